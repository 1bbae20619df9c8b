import type middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';

/** Values that the middleware of one request share. */
type RequestState = {
  /** Set by requestLog, as `performance.now()`. */
  startedAt: number;
};

/** An event of API Gateway, whose body jsonBody replaces, and to which bearerAuth adds the name of the token. */
export interface ApiEvent extends Omit<APIGatewayProxyEvent, 'body'> {
  /** The text, and after jsonBody its value, which is unknown until validated. */
  body: unknown;
  /** The name of the verified access token. */
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
