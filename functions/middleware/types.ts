import type middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';

/** An event of API Gateway, whose body jsonBody replaces, and to which bearerAuth adds the name of the token. */
export interface ApiEvent extends Omit<APIGatewayProxyEvent, 'body'> {
  body: unknown;
  tokenName?: string;
}

export type Request = middy.Request<ApiEvent, APIGatewayProxyResult, Error, Context, { startedAt: number }>;

/** A Middy middleware. Its hooks return nothing: a returned value would end the stack early. */
export interface Middleware {
  before?: (request: Request) => void | Promise<void>;
  after?: (request: Request) => void;
  onError?: (request: Request) => void;
}
