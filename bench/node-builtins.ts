/*
 * The replacement of Node.js's modules with what the SDK's whole chain of credential providers imports besides;
 * none of that is called, since the credentials are in the environment.
 */
export * from '../infra/bundle/node-builtins.ts';

export const createPrivateKey = undefined;
export const createPublicKey = undefined;
export const sign = undefined;
export const readFileSync = undefined;
export const promises = {};
export default {};
