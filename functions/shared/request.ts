import type middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';

/** Values that one middleware leaves for a later one, for one request. */
export type RequestState = {
  /** The name of the verified access token, from the bearer check on. */
  tokenName?: string;
  /** The body as text, from decodeBody on. */
  bodyText: string;
};

/** A request on its way through the Middy stack. */
export type Request<TEvent = APIGatewayProxyEvent> = middy.Request<
  TEvent,
  APIGatewayProxyResult,
  Error,
  Context,
  RequestState
>;

/** A middleware of an operation. Its hooks return nothing: whatever one returns would end the stack early. */
export interface Middleware<TEvent = APIGatewayProxyEvent> {
  before?: (request: Request<TEvent>) => void | Promise<void>;
  after?: (request: Request<TEvent>) => void;
  onError?: (request: Request<TEvent>) => void;
}
