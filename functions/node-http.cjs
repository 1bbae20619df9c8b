/*
 * Replaces node:http in the bundle, where Middy and connection.ts import it. As an ES module, node:http loads undici
 * (nodejs/node issue 59686), which takes 25 ms of a cold start.
 */
module.exports = process.getBuiltinModule('node:http');
