import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { DEVELOPMENT_TOKEN } from './development-token.ts';
import { LoadError, type RawResponse } from './proxy-integration.ts';

const read = (path: string) => readFileSync(path, 'utf8');

/** The page's files: the media type and the text of each path. */
const FILES: Record<string, [mediaType: string, text: () => string | Promise<string>]> = {
  '/docs': ['text/html', page],
  '/docs/openapi.yaml': ['application/yaml', contractOfThisServer],
  '/docs/swagger-ui.css': ['text/css', () => read('node_modules/swagger-ui-dist/swagger-ui.css')],
  '/docs/swagger-ui-bundle.js': ['text/javascript', () => read('node_modules/swagger-ui-dist/swagger-ui-bundle.js')],
};

/**
 * Returns a file of the page on which a reader can read and try the API, or undefined for another path. `/` leads a
 * browser to the page: only browsers send a header Accept with text/html.
 */
export async function docsPage(path: string, accept = ''): Promise<RawResponse | undefined> {
  if (path === '/' && accept.includes('text/html')) return { status: 302, headers: { location: '/docs' }, text: '' };
  const [mediaType, text] = FILES[path.replace(/\/$/, '')] ?? [];
  if (!text) return undefined;
  const headers = {
    'content-type': `${mediaType}; charset=utf-8`,
    // The page loads nothing from other hosts, and no page can show it in a frame. Swagger UI has icons in data: URLs.
    'content-security-policy': "default-src 'self' 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
  };
  return { status: 200, headers, text: await text() };
}

async function page(): Promise<string> {
  await readContract();
  return read('tools/local/docs.html').replace('DEVELOPMENT_TOKEN', DEVELOPMENT_TOKEN);
}

/** Returns the contract with this server, because the port can differ. */
async function contractOfThisServer(): Promise<string> {
  const document = parseDocument(await readContract());
  const description = 'Local run. To try a client, send "Prefer: error=503" or "Prefer: lost-response".';
  document.set('servers', [{ url: '/', description }]);
  return document.toString();
}

/** Returns the contract. Throws, with the sentence that POST gets, if nothing can be generated from it. */
async function readContract(): Promise<string> {
  const contract = read('openapi.yaml');
  // Imported here, because Ajv takes a while to load.
  const { generatedFiles } = await import('../generate.ts');
  try {
    generatedFiles(contract);
    return contract;
  } catch (thrown) {
    throw new LoadError((thrown as Error).message);
  }
}
