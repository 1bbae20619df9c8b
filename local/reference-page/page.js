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

/** Names for screen readers, by selector: Swagger UI gives these elements no name, or another one than it shows. */
const NAMES = {
  '#servers': 'Server',
  '.body-param__text': 'Request body',
  '.examples-select-element': 'Example',
  '.close-modal': 'Close',
  '[aria-label="Apply credentials"]': 'Authorize',
  '[aria-label="Remove authorization"]': 'Logout',
};

new MutationObserver(() => {
  for (const [selector, name] of Object.entries(NAMES)) {
    for (const element of document.querySelectorAll(selector)) element.ariaLabel = name;
  }
}).observe(page, { childList: true, subtree: true });
