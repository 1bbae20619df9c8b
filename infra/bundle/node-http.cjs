/*
 * Replaces node:http in the bundle. Middy imports it, and the ESM form of node:http loads undici (nodejs/node issue 59686),
 * which takes 25 ms of a cold start.
 */
module.exports = process.getBuiltinModule('node:http');
