/*
 * Stands in the bundle for the cache of discovered endpoints: the function has endpoint discovery off,
 * and this with its CommonJS collections would be 8 KB and a slower start.
 */
export class EndpointCache {}
