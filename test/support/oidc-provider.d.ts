/** Only what the tests use: @types/oidc-provider would add the types of Express and Koa, which must not reach bench/. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
  }
}
