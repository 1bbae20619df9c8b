// Generated from openapi.yaml by contract/generate.ts (npm run generate). Do not edit.

export type NewPlant = { "id": bigint; "name": string; "tag"?: string };
export type Plant = { "name": string; "tag"?: string };
/** The event of a request that is as the contract has it. */
export type CreatePlantEvent = { "body": { "id": bigint; "name": string; "tag"?: string } };
/** The body of the operation's response 200. */
export type CreatePlantResponse = { "name": string; "tag"?: string };

export declare const operationId: string;
export declare const int64s: string[][];
export declare const parameters: import('../shared/middleware/typed-parameters.ts').ParameterTypes;
export declare const newPlantMembers: (keyof NewPlant)[];
export declare const plantMembers: (keyof Plant)[];
/** Tells whether an event is as the contract has it; says why not in `errors`. */
declare const validate: import('ajv').Ajv & import('ajv').ValidateFunction;
export default validate;
