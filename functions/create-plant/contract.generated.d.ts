// Generated from openapi.yaml by npm run generate. Do not edit.

export type NewPlant = { "id": bigint; "name": string; "tag"?: string };
export type Plant = { "name": string; "tag"?: string };
/** The parts of a valid event that the contract describes. */
export type CreatePlantEvent = { "body": { "id": bigint; "name": string; "tag"?: string } };
/** The body of a 200 response. */
export type CreatePlantResponse = { "name": string; "tag"?: string };

export declare const operationId: string;
export declare const int64Paths: string[][];
export declare const parameters: import('../shared/middleware/typed-parameters.ts').ParameterTypes;
export declare const newPlantMemberNames: (keyof NewPlant)[];
export declare const plantMemberNames: (keyof Plant)[];
/** Validates an event. The reasons for a failure are in `errors`. */
declare const validate: import('ajv').Ajv & import('ajv').ValidateFunction;
export default validate;
