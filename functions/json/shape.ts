/** The type of a value in the contract: an object has the types of its members, an array the type of its items. */
export type Shape = Scalar | [Shape] | { [member: string]: Shape };

/** The type of a value that is no object and no array. That of an integer is its format. */
export type Scalar = 'string' | 'boolean' | 'number' | 'int32' | 'int64';
