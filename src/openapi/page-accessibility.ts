/**
 * A script that corrects wrong roles and missing names in Scalar 1.72, for screen readers. axe-core names
 * each of them a serious or critical violation of WAI-ARIA 1.2, and `test/openapi/page.spec.ts` shows that
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
