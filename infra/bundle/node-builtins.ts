/*
 * Stands in the bundle for some of Node.js's modules: an ESM import of one of them runs all its lazy
 * getters (nodejs/node issue 59686) and so loads undici, WebCrypto, the file streams and the diagnostic
 * report, none of which a function uses. What functions may import of them stands in biome.json.
 */

const crypto = process.getBuiltinModule('node:crypto');
const fs = process.getBuiltinModule('node:fs');

export const { createHash, createHmac, hash } = crypto;
export const { createReadStream, fstatSync, lstatSync } = fs;
export const { Agent, request, STATUS_CODES } = process.getBuiltinModule('node:http');
export const { env, versions } = process;

/** As WebCrypto's, which would be loaded for the SDK's request ids alone. */
export const getRandomValues = crypto.randomFillSync;

/** As that of `node:fs/promises`, which would be loaded for configuration files that Lambda does not have. */
export const readFile = process.getBuiltinModule('node:util').promisify(fs.readFile);

/** zlib's would be loaded for this alone; without it the SDK uses its own. */
export const crc32 = undefined;

/** The SDK asks whether a body is one; the function sends no files. */
export class ReadStream {}
