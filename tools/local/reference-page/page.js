/* Opens the contract in Swagger UI. */

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Sets the class that Swagger UI's style sheet reads. It does not read the browser's preference itself. */
function followColorScheme() {
  document.documentElement.classList.toggle('dark-mode', dark.matches);
}
dark.addEventListener('change', followColorScheme);
followColorScheme();

const page = document.getElementById('page');
const { token } = page.dataset;

const ui = SwaggerUIBundle({
  dom_id: '#page',
  url: 'openapi.yaml',
  // By default, Swagger UI sends the URL of the contract to a validator on the internet.
  validatorUrl: null,
  docExpansion: 'full',
  tryItOutEnabled: true,
  displayRequestDuration: true,
  // All colours of this theme have enough contrast.
  syntaxHighlight: { theme: 'monokai' },
  defaultModelsExpandDepth: 10,
  defaultModelExpandDepth: 10,
  onComplete: () => token && ui.preauthorizeApiKey('bearerToken', token),
});

/** Properties for assistive technology, by selector: Swagger UI does not set them, or not to what it shows. */
const PROPERTIES = {
  '.information-container': { role: 'banner' },
  '.scheme-container': { role: 'region', ariaLabel: 'Server and authorization' },
  // A region needs a name of its own. Without this role, it is a table.
  '.responses-table': { role: null },
  // Below the title, an h1, Swagger UI continues with h3.
  'h3, .models > h4': { ariaLevel: 2 },
  ':not(.models) > h4': { ariaLevel: 3 },
  'h5, h6': { ariaLevel: 4 },
  '#servers': { ariaLabel: 'Server' },
  '.body-param__text': { ariaLabel: 'Request body' },
  '.examples-select-element': { ariaLabel: 'Example' },
  '.close-modal': { ariaLabel: 'Close' },
  '[aria-label="Apply credentials"]': { ariaLabel: 'Authorize' },
  '[aria-label="Remove authorization"]': { ariaLabel: 'Logout' },
};

new MutationObserver(() => {
  for (const [selector, properties] of Object.entries(PROPERTIES)) {
    for (const element of document.querySelectorAll(selector)) Object.assign(element, properties);
  }
}).observe(page, { childList: true, subtree: true });
