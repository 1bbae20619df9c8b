import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { parseDocument } from 'yaml';
import { projectRoot } from './synthesize.ts';

/*
 * The reference page: documentation of the API, from which a reader can send requests. It is Swagger UI with the
 * settings in reference-page/page.js. The local run serves it, and `npm run reference-page` writes its files to a
 * folder. The page loads nothing from other hosts.
 */

/** The page's path in the local run. */
export const PAGE_PATH = '/docs';

const PAGE_FOLDER = join(import.meta.dirname, 'reference-page');
const PAGE_FILES = ['page.css', 'page.js'];
const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
/** A copy of Swagger UI must include its licence and notice (Apache License 2.0, section 4). */
const LICENCES = ['swagger-ui-bundle.js.LICENSE.txt', 'LICENSE', 'NOTICE'];
const SWAGGER_UI_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js', ...LICENCES];

const MEDIA_TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.yaml': 'application/yaml',
};

/**
 * Returns the page's files: a map from name to text.
 *
 * @param baseUrl the base URL of the API, without a slash at the end
 * @param token a token with which the page is authorized when it opens; default: none
 * @throws if the contract is not valid YAML
 */
export function referencePage(baseUrl: string, token = ''): Record<string, string> {
  // Without intAsBigInt, ids beyond 2^53 in an example would be rounded.
  const contract = parseDocument(readFileSync(join(projectRoot, 'openapi.yaml'), 'utf8'), { intAsBigInt: true });
  const [error] = contract.errors;
  if (error) throw new Error(`The reference page cannot be generated from openapi.yaml: ${error.message}`);
  contract.set('servers', [{ url: baseUrl }]);

  const read = (folder: string, names: string[]) =>
    Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  return {
    ...read(PAGE_FOLDER, PAGE_FILES),
    ...read(SWAGGER_UI, SWAGGER_UI_FILES),
    'index.html': readFileSync(join(PAGE_FOLDER, 'index.html'), 'utf8')
      .replace('API_ORIGIN', new URL(baseUrl).origin)
      .replace('TOKEN_OF_LOCAL_RUN', token)
      .replace('API_TITLE', String(contract.getIn(['info', 'title']))),
    'openapi.yaml': contract.toString(),
  };
}

/**
 * Responds to a request for one of the page's files, and returns true. Returns false for any other request. Reads
 * openapi.yaml for each request, so that the page shows the current contract. A deployed API does not have the page.
 */
export function serveReferencePage(request: IncomingMessage, response: ServerResponse, token: string): boolean {
  const [path = ''] = String(request.url).split('?');
  if (request.method !== 'GET' || !`${path}/`.startsWith(`${PAGE_PATH}/`)) return false;
  if (path === PAGE_PATH) {
    // Without the slash, the browser would look for the page's files in the parent folder.
    response.writeHead(302, { location: `${PAGE_PATH}/` }).end();
    return true;
  }
  const name = path.slice(PAGE_PATH.length + 1) || 'index.html';
  try {
    // The host from the browser's address bar, because localhost and 127.0.0.1 are different origins.
    const files = referencePage(`http://${request.headers.host}`, token);
    if (!Object.hasOwn(files, name)) return false;
    const mediaType = `${MEDIA_TYPES[extname(name)] ?? 'text/plain'}; charset=utf-8`;
    response.writeHead(200, { 'content-type': mediaType, 'cache-control': 'no-store' }).end(files[name]);
  } catch (error) {
    // While you edit openapi.yaml, it may not be valid YAML.
    response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end((error as Error).message);
  }
  return true;
}
