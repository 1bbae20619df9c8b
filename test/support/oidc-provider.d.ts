/** What the tests use of it; its own types bring Express's and Koa's, which the bench's peers must not see. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
  }
}
