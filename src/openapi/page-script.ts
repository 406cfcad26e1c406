import type { Credentials } from './public-pages.js';

/**
 * What starts Scalar, on the document of the service with a few changes:
 * - A request that it shows has `limit` and the parameters that are required, and offers the examples
 *   of the others. Otherwise it would have all of them at once, which no endpoint accepts.
 * - Deletions are asked for since yesterday, because they are kept for 30 days.
 * - Commands have the address of the service, and the credentials, if any, in place of their variables.
 *
 * A response is scrolled into view. Everything that Scalar would ask of other services is off.
 */
const START = `
const isParameter = (value) => ['query', 'header'].includes(value?.in) && value.schema;

function suggested({ schema: { examples, ...schema }, ...parameter }) {
  const yesterday = new Date(Date.now() - 86_400_000).toISOString();
  const value = parameter.name === 'deletedSince' ? yesterday : examples?.[0];
  const example = { value, 'x-disabled': !parameter.required && parameter.name !== 'limit' };
  return { ...parameter, schema, examples: { example } };
}

// Without a slash at the end.
const base = new URL('.', location.href).href.slice(0, -1);

function filled(text) {
  const withAddress = text.replaceAll('$CATALOGUE_URL', base);
  if (!credentials) return withAddress;
  return withAddress
    .replaceAll('$CLIENT_ID', credentials.clientID)
    .replaceAll('$ACCESS_TOKEN', credentials.accessToken);
}

const response = await fetch('openapi.json');
const content = JSON.parse(filled(await response.text()), (_, value) =>
  isParameter(value) ? suggested(value) : value,
);

// The credentials of the demonstration are public.
document.documentElement.classList.toggle('demonstration', credentials !== null);

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

/** The script of the page, with the credentials that it fills in. */
export function script(credentials: Credentials | undefined): string {
  return `import { createApiReference } from './scalar/standalone.esm.js';

const credentials = ${JSON.stringify(credentials ?? null)};
${START}`;
}
