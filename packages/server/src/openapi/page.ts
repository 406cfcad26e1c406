/** Content-Security-Policy of the page. Only this service as source; Scalar inlines styles. */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';');

/**
 * Scalar takes seconds to start, and takes the place of what is in `#page` then. Paths are relative, so that the page
 * works behind a proxy with a path prefix.
 */
export const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Catalogue</title>
    <link rel="icon" href="docs/icon.svg" />
    <link rel="stylesheet" href="docs/style.css" />
    <script type="module" src="docs/start.js"></script>
    <script type="module" src="docs/accessibility.js"></script>
  </head>
  <body>
    <div id="page">
      <main class="loading">
        <h1>Catalogue</h1>
        <p role="status">Loading the documentation…</p>
        <p class="without">
          This page needs JavaScript. The OpenAPI document has all that it shows: each endpoint, parameter, header and
          error, and how to use them.
        </p>
        <p><a href="openapi.json">OpenAPI document</a></p>
      </main>
    </div>
  </body>
</html>
`;

/** A list with one entry marked, in the colours of the page. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f5fbf"/><path d="M8 10h16M8 16h16M8 22h10" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>`;

/** Credentials in the page, with which its visitor can send requests at once. */
export interface Credentials {
  readonly clientID: string;
  readonly accessToken: string;
}

/**
 * What starts Scalar, on the document of the service with a few changes:
 * - A request that it shows has `limit`, and offers the examples of the others. Otherwise it would have all of them at
 *   once, which no endpoint accepts.
 * - Commands have the address of the service, and the credentials, if any, in place of their variables.
 *
 * A response is scrolled into view. Everything that Scalar would ask of other services is off.
 */
const START = `
const isParameter = (value) => ['query', 'header'].includes(value?.in) && value.schema;

function suggested({ schema: { examples, ...schema }, ...parameter }) {
  const example = { value: examples?.[0], 'x-disabled': parameter.name !== 'limit' };
  return { ...parameter, schema, examples: { example } };
}

const sent = new URLSearchParams(location.search);
const [clientID, accessToken] = [sent.get('clientID'), sent.get('access_token')];
// Those of the address only if neither JSON nor a shell gives one of their characters a meaning.
const isPlain = (text) => /^[\\w.:@+-]+$/.test(text ?? '');
const credentials = isPlain(clientID) && isPlain(accessToken) ? { clientID, accessToken } : demonstration;

// Without a slash at the end.
const base = new URL('.', location.href).href.slice(0, -1);

function filled(text) {
  const withAddress = text.replaceAll('$CATALOGUE_URL', base);
  if (!credentials) return withAddress;
  return withAddress
    .replaceAll('$CLIENT_ID', credentials.clientID)
    .replaceAll('$ACCESS_TOKEN', credentials.accessToken);
}

const response = await fetch('openapi.json' + location.search);
if (!response.ok) {
  const { result } = await response.json();
  document.querySelector('#page [role=status]').textContent = result.msg;
  throw new Error(result.msg);
}
const content = JSON.parse(filled(await response.text()), (_, value) =>
  isParameter(value) ? suggested(value) : value,
);

// Its credentials are public.
document.documentElement.classList.toggle('demonstration', credentials !== null && credentials === demonstration);

// Scalar would take what is there for its own.
document.querySelector('#page').replaceChildren();
createApiReference('#page', {
  content,
  servers: [{ url: base }],
  authentication: {
    preferredSecurityScheme: [['X-Client-ID', 'Authorization']],
    ...(credentials && {
      securitySchemes: {
        'X-Client-ID': { value: credentials.clientID },
        Authorization: { token: credentials.accessToken },
      },
    }),
  },
  // Scalar shows it a moment later, below the parameters where the window is narrow.
  onResponseReceived() {
    setTimeout(() => {
      document.querySelector('[role=dialog] [aria-label=Response]')?.scrollIntoView({ block: 'nearest' });
    });
  },
  persistAuth: false,
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'none',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  modelsSectionLabel: 'Schemas',
  orderSchemaPropertiesBy: 'preserve',
  orderRequiredPropertiesFirst: false,
});
`;

/** The script of the page, with the credentials that it fills in unless its address has others. */
export function script(credentials: Credentials | undefined): string {
  return `import { createApiReference } from './scalar/standalone.esm.js';

const demonstration = ${JSON.stringify(credentials ?? null)};
${START}`;
}

/**
 * A script that corrects wrong roles and missing names in Scalar 1.72, for screen readers. axe-core names
 * each of them a serious or critical violation of WAI-ARIA 1.2, and `test/openapi/page.system.spec.ts` shows that
 * none is left.
 */
export const ACCESSIBILITY = `const mends = [
  ['.code-input-lite__editor[role=combobox]', (field) => {
    field.role = 'textbox';
    field.removeAttribute('aria-autocomplete');
    field.ariaLabel ??= field.dataset.placeholder ?? 'Value';
  }],
  ['button[role=none]', (button) => button.removeAttribute('role')],
  ['input[role=combobox]:not([aria-expanded])', (input) => (input.ariaExpanded = 'true')],
  ['[role=listbox] [role=alert]', (message) => {
    message.role = 'option';
    message.ariaDisabled = 'true';
    message.ariaLive = 'polite';
  }],
  ['code.custom-scroll:not([tabindex])', (block) => (block.tabIndex = 0)],
  ['.cm-content:not([aria-label])', (body) => (body.ariaLabel = 'Body')],
  ['.cm-scroller[tabindex="-1"]', (body) => (body.tabIndex = 0)],
  ['[data-sonner-toaster]:not([role])', (messages) => (messages.role = 'group')],
  ['button[aria-controls]', (button) => {
    const ids = button.getAttribute('aria-controls');
    if (!document.getElementById(ids)) button.removeAttribute('aria-controls');
  }],
];

new MutationObserver(() => {
  for (const [selector, mend] of mends) document.querySelectorAll(selector).forEach(mend);
}).observe(document, {
  subtree: true,
  childList: true,
  attributeFilter: ['role', 'aria-controls', 'tabindex'],
});
`;

/** Styles for Scalar: colours with the contrast of WCAG 2 AA, and nothing that leads away from the service. */
export const STYLE = `
body { margin: 0; }

/* Until Scalar has started. */
:root:has(.loading) { color-scheme: light dark; }
.loading { max-width: 40rem; margin: 20vh auto; padding: 0 1.5rem; font: 1rem/1.5 system-ui, sans-serif; }
@media (scripting) { .loading .without { display: none; } }
@media (scripting: none) { .loading [role='status'] { display: none; } }

.light-mode {
  --scalar-color-2: #5c5f66;
  --scalar-color-3: #66696f;
  --scalar-color-accent: #1f5fbf;
  --scalar-color-blue: #1f5fbf;
  --scalar-color-green: #14703d;
  --scalar-color-orange: #96480a;
  --scalar-color-red: #b3261e;
  --scalar-color-purple: #6a3fb5;
  --scalar-color-yellow: #7a5600;
}
.dark-mode {
  --scalar-color-3: #9a9ca3;
}

/* The link to the site of Scalar, and the button that copies a text for language models. */
.scalar-app a[href^='https://www.scalar.com'],
.scalar-app .operation-auth .scalar-button-outlined { display: none; }

/* The button that chooses the credentials has a line of its own where the heading leaves it too little. */
.scalar-app div:has(> button [data-testid='auth-indicator']) { flex-wrap: wrap; }
.scalar-app button:has([data-testid='auth-indicator']) { flex: 1 0 auto; }
.scalar-app button:has([data-testid='auth-indicator']) + div { padding-inline: 9px 4px; min-height: 32px; }

/* All status codes of a response are in view. A button would cover those that have to be scrolled to. */
.scalar-app .scalar-card-header-tabs { flex-wrap: wrap; gap: 0 6px; padding-left: 12px !important; }
.scalar-app .scalar-card-header-tabs :is(.scalar-card-header-title, .tab-list) { display: contents; }
.scalar-app .scalar-card-header-tabs .tab { margin-block: 7px; }
.scalar-app .scalar-card-header-tabs > .flex { margin-left: auto; }

/* In a narrow window, the address of a request is beside the button of the sidebar, not below it. */
@container (width < 48rem) {
  .scalar-app .scalar-sidebar-toggle ~ * .t-app__top-container > .order-last { padding-left: 40px; }
}

/* A response is as high as the dialog before it has come, too, so that it is scrolled to as a whole. */
.scalar-app [role='dialog'] [aria-label='Response'] { min-height: 100%; }

/* A section is focused by a script and handles no keys. */
.scalar-app .section[tabindex='-1'] { outline: none; }

/* The name of a header with credentials cannot be changed. */
.scalar-app tr:has([data-placeholder='api-key']) { display: none; }

/* A command that is folded is still one line to copy. */
.scalar-app .markdown pre code, .scalar-app .markdown pre code * {
  white-space: pre-wrap !important; overflow-wrap: anywhere;
}

/* The button that copies a sample is there without a pointer, and has its name then. */
.scalar-app .scalar-code-copy { opacity: 1; }
.scalar-app .scalar-code-copy .sr-only > .hidden { display: inline; }

/* The credentials of the demonstration are public. */
.demonstration .scalar-app .credential .credential-value { font-size: inherit; color: inherit; }
.demonstration .scalar-app .credential::after { content: none; }
`;
