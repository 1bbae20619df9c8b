// Generated from the contract by npm run generate. Do not edit.

export type NewPlant = { "id": bigint; "name": string; "tag"?: string };
export type Plant = { "name": string; "tag"?: string };
/** The parts of a valid event that the contract describes. */
export type CreatePlantEvent = { "body": { "id": bigint; "name": string; "tag"?: string } };

export declare const operationId: "createPlant";
export declare const parameterShapes: {"pathParameters":{},"queryStringParameters":{}};
export declare const bodyShape: {"id":"int64","name":"string","tag":"string"};
export declare const newPlantShape: {"id":"int64","name":"string","tag":"string"};
export declare const plantShape: {"name":"string","tag":"string"};
/** Validates an event. The reasons for a failure are in `errors`. */
declare const validate: import('ajv').ValidateFunction;
export default validate;
