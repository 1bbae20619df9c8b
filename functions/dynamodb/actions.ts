import type * as Sdk from '@aws-sdk/client-dynamodb';

/** The inputs and outputs of the actions that `call` accepts ("Amazon DynamoDB API Reference"). */
interface Actions {
  DeleteItem: [Sdk.DeleteItemInput, Sdk.DeleteItemOutput];
  GetItem: [Sdk.GetItemInput, Sdk.GetItemOutput];
  PutItem: [Sdk.PutItemInput, Sdk.PutItemOutput];
  Query: [Sdk.QueryInput, Sdk.QueryOutput];
  Scan: [Sdk.ScanInput, Sdk.ScanOutput];
  /** A retried update can be applied twice: use SET with fixed values instead of ADD, or add a condition. */
  UpdateItem: [Sdk.UpdateItemInput, Sdk.UpdateItemOutput];
}

export type Action = keyof Actions;

/** The JSON form of an SDK type. Binary attribute values are base64 strings. */
type Json<Value> = Value extends Uint8Array
  ? string
  : Value extends object
    ? { [Member in keyof Value]: Json<Value[Member]> }
    : Value;

export type Input<Name extends Action> = Json<Actions[Name][0]>;
export type Output<Name extends Action> = Json<Actions[Name][1]>;
export type AttributeValue = Json<Sdk.AttributeValue>;
