import type middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';

type RequestState = {
  startedAt: number;
};

/** An event of API Gateway, whose body jsonBody replaces, and to which bearerAuth adds the name of the token. */
export interface ApiEvent extends Omit<APIGatewayProxyEvent, 'body'> {
  /** The text, and after jsonBody its value, which is unknown until validated. */
  body: unknown;
  tokenName?: string;
}

export type Request = middy.Request<ApiEvent, APIGatewayProxyResult, Error, Context, RequestState>;

/** A Middy middleware. Its hooks return nothing: a returned value would end the stack early. */
export interface Middleware {
  before?: (request: Request) => void | Promise<void>;
  after?: (request: Request) => void;
  onError?: (request: Request) => void;
}
