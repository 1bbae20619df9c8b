/*
 * Replaces node:http in the bundle: an ESM import of node:http loads undici (nodejs/node issue 59686), and @middy/util
 * imports only this.
 */
export const { STATUS_CODES } = process.getBuiltinModule('node:http');
