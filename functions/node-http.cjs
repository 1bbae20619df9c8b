/*
 * Replaces node:http in the bundle, because Middy imports it. As an ES module, node:http loads undici (nodejs/node
 * issue 59686), which takes 25 ms of a cold start.
 */
module.exports = process.getBuiltinModule('node:http');
