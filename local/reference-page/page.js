/* Opens the contract in Swagger UI. */

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Swagger UI's style sheet goes by this class, not by what the reader prefers. */
function followColorScheme() {
  document.documentElement.classList.toggle('dark-mode', dark.matches);
}
dark.addEventListener('change', followColorScheme);
followColorScheme();

SwaggerUIBundle({
  dom_id: '#page',
  url: 'openapi.yaml',
  // Its own validator is a service on the internet, to which it would send the address of the contract.
  validatorUrl: null,
  docExpansion: 'full',
  tryItOutEnabled: true,
  displayRequestDuration: true,
  // Of its themes one whose colours can all be read on its background.
  syntaxHighlight: { theme: 'monokai' },
  defaultModelsExpandDepth: 10,
  defaultModelExpandDepth: 10,
});

/** By what a screen reader calls what Swagger UI leaves without a name, or names otherwise than the reader sees it. */
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
}).observe(document.getElementById('page'), { childList: true, subtree: true });
