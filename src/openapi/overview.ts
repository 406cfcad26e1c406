import { readFileSync } from 'node:fs';
import { errors } from '../http/errors.js';

/** The description of what applies to all endpoints, as Markdown: `overview.md` with all errors. */
export function overview(): string {
  const rows = Object.values(errors).map(
    ({ errcode, statuses, condition, message }) =>
      `| \`${errcode}\` | ${statuses.join(', ')} | ${condition} | \`${message}\` |`,
  );
  const table = ['| errcode | HTTP | condition | msg |', '| --- | --- | --- | --- |', ...rows];
  return readFileSync(new URL('overview.md', import.meta.url), 'utf8').replace(
    '<!-- errors -->',
    () => table.join('\n'),
  );
}
