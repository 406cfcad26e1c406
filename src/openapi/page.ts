import type { Credentials } from './public-pages.js';

/** Content-Security-Policy of the page. Only this service as source; Swagger UI inlines styles. */
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

/** Paths are relative, so that the page works behind a proxy with a path prefix. */
export const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Catalogue</title>
    <link rel="icon" href="docs/favicon-32x32.png" />
    <link rel="stylesheet" href="docs/swagger-ui.css" />
    <link rel="stylesheet" href="docs/style.css" />
    <script src="docs/swagger-ui-bundle.js" defer></script>
    <script src="docs/start.js" defer></script>
  </head>
  <body>
    <div id="page"></div>
  </body>
</html>
`;

/** The script that starts Swagger UI. It sends the credentials, if any, in headers. */
export function script(credentials: Credentials | undefined): string {
  const values = credentials && [credentials.clientID, credentials.accessToken];
  return `const credentials = ${JSON.stringify(values ?? null)};
const page = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#page',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  showCommonExtensions: true,
  // Nothing is sent to validators elsewhere.
  validatorUrl: null,
  onComplete: () => {
    if (!credentials) return;
    page.preauthorizeApiKey('X-Client-ID', credentials[0]);
    page.preauthorizeApiKey('Authorization', credentials[1]);
  },
});
`;
}

/** Styles for Swagger UI: less decoration, and tables as blocks on small screens. */
export const STYLE = `
body { margin: 0; background: #fafafa; }
.swagger-ui .wrapper { max-width: 1100px; }
.swagger-ui .info { margin: 24px 0; }
.swagger-ui .info hgroup.main { margin-bottom: 12px; }
.swagger-ui .info h2 { font-size: 18px; margin: 20px 0 6px; }
.swagger-ui .info summary { cursor: pointer; font: 600 14px sans-serif; margin: 12px 0; }
.swagger-ui .scheme-container { margin: 0 0 16px; padding: 16px 0; }
.swagger-ui .renderedMarkdown code, .swagger-ui .info code { color: #3b4151; }
.swagger-ui .renderedMarkdown p { line-height: 1.5; }

@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 10px; }
  .swagger-ui .info .title { font-size: 28px; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; padding: 8px 0; }
  .swagger-ui .opblock-tag small { padding: 0; }
  .swagger-ui .opblock .opblock-summary-path { max-width: none; }
  .swagger-ui .opblock .opblock-section-header { padding: 8px; }
  .swagger-ui .table-container, .swagger-ui .responses-inner { padding: 8px; }
  .swagger-ui table, .swagger-ui tbody, .swagger-ui tr { display: block; }
  .swagger-ui thead { display: none; }
  .swagger-ui table td, .swagger-ui table.headers td, .swagger-ui .response-col_status,
  .swagger-ui .response-col_description, .swagger-ui .parameters-col_name {
    display: block; width: auto; min-width: 0; padding: 2px 0;
  }
  .swagger-ui tr { padding: 8px 0; border-bottom: 1px solid #3b415133; }
  .swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select,
  .swagger-ui .parameters-col_description textarea { max-width: none; width: 100%; box-sizing: border-box; }
  .swagger-ui .parameter__name { padding: 0; }
  .swagger-ui .response-col_links { display: none; }
  .swagger-ui .highlight-code, .swagger-ui .curl-command { overflow-x: auto; }
  .swagger-ui .renderedMarkdown td { overflow-wrap: anywhere; }
}
`;
