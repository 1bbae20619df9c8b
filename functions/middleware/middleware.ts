import type middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';

/** Values that the middleware of one request share. */
type RequestState = {
  /** Set by requestLog, as `performance.now()`. */
  startedAt?: number;
  /** The name of the verified access token. Set by bearerAuth. */
  tokenName?: string;
  /** Set by jsonBody. */
  asSent?: SentParts;
};

/** The parts of an event as the client sent them: the body with number texts, and the texts of the parameters. */
export interface SentParts {
  body?: unknown;
  pathParameters?: Record<string, unknown>;
  queryStringParameters?: Record<string, unknown>;
}

/**
 * An event of API Gateway. Middleware replaces its texts by parsed values, whose types are unknown until the validator
 * has run.
 */
export interface ApiEvent extends Omit<APIGatewayProxyEvent, 'body' | 'pathParameters' | 'queryStringParameters'> {
  body: unknown;
  pathParameters: Record<string, unknown> | null;
  queryStringParameters: Record<string, unknown> | null;
}

/** A request in the Middy stack. */
export type Request = middy.Request<ApiEvent, APIGatewayProxyResult, Error, Context, RequestState>;

/** A Middy middleware. Its hooks return nothing: a returned value would end the stack early. */
export interface Middleware {
  before?: (request: Request) => void | Promise<void>;
  after?: (request: Request) => void;
  onError?: (request: Request) => void;
}
