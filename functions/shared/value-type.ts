/** The type of a value in the contract: an object has the types of its members, an array the type of its items. */
export type ValueType = ScalarType | [ValueType] | { [member: string]: ValueType };

/** The type of a value that is no object and no array. That of an integer is its format. */
export type ScalarType = 'string' | 'boolean' | 'number' | 'int32' | 'int64';
