import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { isMap, parseDocument } from 'yaml';
import { projectRoot } from './synthesize.ts';

/*
 * The contract as a page to read and to try in a browser: Swagger UI, with the settings of reference-page/page.js. The
 * same files are served by the local run and written by `npm run docs`. None of them loads anything from elsewhere.
 */

const OWN_FILES = join(import.meta.dirname, 'reference-page');
const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** Where the local run has the page. */
export const PAGE_PATH = '/docs';

const MEDIA_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.yaml': 'application/yaml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

interface PageOptions {
  /** The base URL that the console calls, without a slash at its end. */
  baseUrl: string;
  /** A token that the page offers to whoever opens it. */
  token?: string;
}

/** The text of each of the page's files, by its name. Throws a sentence where the contract cannot be read. */
export function referencePage(contract: string, options: PageOptions): Record<string, string> {
  const { title, text } = pageContract(contract, options);
  return {
    'index.html': indexHtml(title, options.baseUrl),
    'page.css': readFileSync(join(OWN_FILES, 'page.css'), 'utf8'),
    'page.js': readFileSync(join(OWN_FILES, 'page.js'), 'utf8'),
    'openapi.yaml': text,
    'swagger-ui.css': swaggerUi('swagger-ui.css'),
    'swagger-ui-bundle.js': swaggerUi('swagger-ui-bundle.js'),
    // Whoever passes Swagger UI on must add its licence and notice (Apache License 2.0, section 4).
    'swagger-ui-bundle.js.LICENSE.txt': swaggerUi('swagger-ui-bundle.js.LICENSE.txt'),
    'swagger-ui-LICENSE.txt': swaggerUi('LICENSE'),
    'swagger-ui-NOTICE.txt': swaggerUi('NOTICE'),
  };
}

/** A file of Swagger UI, without the comment for which a browser's tools would ask for a file that is not here. */
function swaggerUi(name: string): string {
  const text = readFileSync(join(SWAGGER_UI, name), 'utf8');
  return text.replace(/\/[/*]# sourceMappingURL=\S+$/, '');
}

/** The contract as the page has it: with its base URL, and what is to be said of the token. */
function pageContract(contract: string, { baseUrl, token }: PageOptions): { title: string; text: string } {
  // As numbers, ids beyond 2^53 in an example would be rounded.
  const document = parseDocument(contract, { intAsBigInt: true });
  const [fault] = document.errors;
  if (fault || !isMap(document.contents)) {
    throw new Error(`The page cannot be made from openapi.yaml: ${fault?.message ?? 'it must be an object'}.`);
  }
  document.set('servers', [{ url: baseUrl }]);
  const schemes = document.getIn(['components', 'securitySchemes']);
  if (token !== undefined && isMap(schemes)) {
    for (const { value } of schemes.items) {
      if (!isMap(value) || value.get('scheme') !== 'bearer') continue;
      value.set('description', `The token of the local run, valid nowhere else: \`${token}\``);
    }
  }
  return { title: String(document.getIn(['info', 'title'])), text: document.toString() };
}

/**
 * The policy stands in the page, since a static host may not let its user set headers. Nothing but the page's own files
 * and the API can be reached from it, and no script or style that is written into it runs ("Content Security Policy
 * Level 3", W3C). Swagger UI's style sheet has its icons in it, as data.
 */
function indexHtml(title: string, baseUrl: string): string {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    'img-src data:',
    `connect-src 'self' ${new URL(baseUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <title>${title.replaceAll(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="swagger-ui.css">
    <link rel="stylesheet" href="page.css">
  </head>
  <body>
    <noscript>This page needs JavaScript. The contract is in <a href="openapi.yaml">openapi.yaml</a>.</noscript>
    <div id="page"></div>
    <script src="swagger-ui-bundle.js"></script>
    <script src="page.js"></script>
  </body>
</html>
`;
}

/**
 * Has a server answer what is asked of the page, and everything else as before. The page stands beside the gateway:
 * the template knows nothing of it, so on AWS its path is error 404. It is made anew for each request, so that it
 * shows the contract as it is now. Call it before anything else listens to the server's requests.
 */
export function serveReferencePage(server: Server, token: string): void {
  const others = server.listeners('request');
  server.removeAllListeners('request').on('request', (request: IncomingMessage, response: ServerResponse) => {
    answerByPage(request, response, token);
    if (response.writableEnded) return;
    for (const listener of others) listener.call(server, request, response);
  });
}

/** Answers where the page, or a file of it, is asked for. */
function answerByPage(request: IncomingMessage, response: ServerResponse, token: string): void {
  const { method = '', url = '', headers } = request;
  const [path = ''] = url.split('?');
  if (!['GET', 'HEAD'].includes(method)) return;
  if (path === PAGE_PATH) {
    // Without the slash, the page's links to its files would lead out of it.
    response.writeHead(302, { location: `${PAGE_PATH}/` }).end();
    return;
  }
  // As the browser has it: for a page of localhost, 127.0.0.1 is another origin.
  const { host = '' } = headers;
  if (!path.startsWith(`${PAGE_PATH}/`) || !/^[\w.-]+(:\d+)?$/.test(host)) return;
  const name = path.slice(PAGE_PATH.length + 1) || 'index.html';
  try {
    const contract = readFileSync(join(projectRoot, 'openapi.yaml'), 'utf8');
    const text = new Map(Object.entries(referencePage(contract, { baseUrl: `http://${host}`, token }))).get(name);
    if (text === undefined) return;
    response.writeHead(200, { 'content-type': MEDIA_TYPES[extname(name)], 'cache-control': 'no-store' }).end(text);
  } catch (error) {
    // In the middle of an edit, the contract may be no YAML.
    response.writeHead(500, { 'content-type': MEDIA_TYPES['.txt'] }).end((error as Error).message);
  }
}
