import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { DEVELOPMENT_TOKEN } from './development-token.ts';
import type { RawResponse } from './proxy-integration.ts';

const read = (path: string) => readFileSync(path, 'utf8');

/** The page's files: the media type and the text of each path. */
const FILES: Record<string, [mediaType: string, text: () => string]> = {
  '/docs': ['text/html', () => read('tools/local/docs.html').replace('DEVELOPMENT_TOKEN', DEVELOPMENT_TOKEN)],
  '/docs/openapi.yaml': ['application/yaml', contractOfThisServer],
  '/docs/swagger-ui.css': ['text/css', () => read('node_modules/swagger-ui-dist/swagger-ui.css')],
  '/docs/swagger-ui-bundle.js': ['text/javascript', () => read('node_modules/swagger-ui-dist/swagger-ui-bundle.js')],
};

/**
 * Returns a file of the page on which a reader can read and try the API, or undefined for another path. `/` leads a
 * browser to the page.
 *
 * @param accept the header Accept; only browsers send one with text/html
 */
export function docsPage(path: string, accept = ''): RawResponse | undefined {
  if (path === '/' && accept.includes('text/html')) return { status: 302, headers: { location: '/docs' }, text: '' };
  const [mediaType, text] = FILES[path.replace(/\/$/, '')] ?? [];
  if (!text) return undefined;
  const headers = {
    'content-type': `${mediaType}; charset=utf-8`,
    // The page loads nothing from other hosts. Swagger UI has icons in data: URLs.
    'content-security-policy': "default-src 'self' 'unsafe-inline'; img-src data:",
  };
  return { status: 200, headers, text: text() };
}

/** Returns the contract with this server, because the port can differ. */
function contractOfThisServer(): string {
  const document = parseDocument(read('openapi.yaml'));
  const description = 'Local run. To try a client, send "Prefer: error=503" or "Prefer: lost-response".';
  document.set('servers', [{ url: '/', description }]);
  return document.toString();
}
