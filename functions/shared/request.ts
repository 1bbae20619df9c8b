import type middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';

/** Values of one request that its middleware shares. */
type RequestState = {
  /** Set by requestLog, as `performance.now()`. */
  startedAt?: number;
  /** The name of the verified access token. Set by bearerAuth. */
  tokenName?: string;
};

/** A request on its way through the Middy stack. */
export type Request = middy.Request<APIGatewayProxyEvent, APIGatewayProxyResult, Error, Context, RequestState>;

/** A middleware of an operation. Its hooks return nothing: whatever one returns would end the stack early. */
export interface Middleware {
  before?: (request: Request) => void | Promise<void>;
  after?: (request: Request) => void;
  onError?: (request: Request) => void;
}
