import type middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';

/** Values that the middleware of one request share. */
type RequestState = {
  /** Set by requestLog, as `performance.now()`. */
  startedAt?: number;
};

/** An event of API Gateway, to which the middleware adds what it has found out. */
export interface ApiEvent extends Omit<APIGatewayProxyEvent, 'body'> {
  /** jsonBody replaces the text by its value, which is unknown until validated. */
  body: unknown;
  /** The name of the verified access token. Set by bearerAuth. */
  tokenName?: string;
}

/** A request in the Middy stack. */
export type Request = middy.Request<ApiEvent, APIGatewayProxyResult, Error, Context, RequestState>;

/** A Middy middleware. Its hooks return nothing: a returned value would end the stack early. */
export interface Middleware {
  before?: (request: Request) => void | Promise<void>;
  after?: (request: Request) => void;
  onError?: (request: Request) => void;
}
