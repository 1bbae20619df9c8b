// Generated from the contract by npm run generate. Do not edit.

export type Plant = { "name": string; "tag"?: string };
/** The parts of a valid event that the contract describes. */
export type ListPlantsEvent = { "queryStringParameters": { "limit"?: number; "cursor"?: string } };

export declare const operationId: "listPlants";
export declare const parameterShapes: {"pathParameters":{},"queryStringParameters":{"limit":"int32","cursor":"string"}};
export declare const plantShape: {"name":"string","tag":"string"};
/** Validates an event. The reasons for a failure are in `errors`. */
declare const validate: import('ajv').ValidateFunction;
export default validate;
