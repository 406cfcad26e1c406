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

/** Paths are relative, so that the page works behind a proxy with a path prefix. */
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
    <div id="page"></div>
  </body>
</html>
`;

/** A list with one entry marked, in the colours of the page. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f5fbf"/><path d="M8 10h16M8 16h16M8 22h10" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>`;
