import type middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';

/** Values that the middleware of one request share. */
type RequestState = {
  /** Set by requestLog, as `performance.now()`. */
  startedAt?: number;
  /** The name of the verified access token. Set by bearerAuth. */
  tokenName?: string;
};

/** An event of API Gateway. `jsonBody` replaces the text of the body by its value, which is unknown until validated. */
export interface ApiEvent extends Omit<APIGatewayProxyEvent, 'body'> {
  body: unknown;
}

/** A request in the Middy stack. */
export type Request = middy.Request<ApiEvent, APIGatewayProxyResult, Error, Context, RequestState>;

/** A Middy middleware. Its hooks return nothing: a returned value would end the stack early. */
export interface Middleware {
  before?: (request: Request) => void | Promise<void>;
  after?: (request: Request) => void;
  onError?: (request: Request) => void;
}
