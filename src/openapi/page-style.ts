/**
 * Styles for Scalar: colours with the contrast of WCAG 2 AA, and nothing that leads away from the
 * service.
 */
export const STYLE = `
body { margin: 0; }

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
