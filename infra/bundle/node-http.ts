/*
 * Stands in the bundle for `node:http`: an ESM import of it runs the module's lazy getters and so
 * loads undici, 22 ms of a cold start (nodejs/node issue 59686).
 */
export const { Agent, request, STATUS_CODES } = process.getBuiltinModule('node:http');
