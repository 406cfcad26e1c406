import { readdir, readFile } from 'node:fs/promises';

/** The cells of one row of a table, as Markdown. */
export type Row = readonly string[];

/** A table that the documents must have. */
export interface ExpectedTable {
  readonly rows: readonly Row[];
  /** Whether the last column is written by hand, and only must not be empty. */
  readonly hasOwnMeanings?: true;
}

/** Every document of the project, by path. */
export async function documents(): Promise<Map<string, string>> {
  const namesIn = async (folder: string) =>
    (await readdir(folder, { recursive: true })).map((name) => `${folder}/${name}`);
  const paths = [
    ...['README.md', 'CONTRIBUTING.md', 'deploy/cluster/README.md'],
    'deploy/kubernetes/README.md',
    ...['packages/client/README.md', 'packages/mcp/README.md'],
    'packages/embedded-postgres/README.md',
    'packages/server/README.md',
    'packages/embedded-postgres/src/README.md',
    ...['generators', 'mirror', 'storefront'].map((name) => `examples/${name}/README.md`),
    ...(await namesIn('docs')).filter((name) => name.endsWith('.md')),
    ...(await namesIn('packages/server/src')).filter((name) => name.endsWith('/README.md')),
  ];
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(path, 'utf8')] as const)),
  );
}

/** A fenced block of a document. */
export interface Fence {
  /** What stands behind the fence, such as `sh`. */
  readonly language: string;
  readonly text: string;
  /** The heading that it is below. */
  readonly heading: string;
}

/** The blocks of a document in their order, and its text without them. */
export function fencesOf(markdown: string): { fences: Fence[]; rest: string } {
  const fences: Fence[] = [];
  const rest: string[] = [];
  let heading = '';
  let open: { indent: string; language: string; lines: string[] } | undefined;
  for (const line of markdown.split('\n')) {
    const [, indent = '', language = ''] = /^( *)```(\w*)$/.exec(line) ?? [];
    if (open && line === `${open.indent}\`\`\``) {
      fences.push({ language: open.language, text: `${open.lines.join('\n')}\n`, heading });
      open = undefined;
    } else if (open) {
      open.lines.push(line.slice(open.indent.length));
    } else if (/^ *```/.test(line)) {
      open = { indent, language, lines: [] };
    } else {
      heading = /^#+ (.+)$/.exec(line)?.[1] ?? heading;
      rest.push(line);
    }
  }
  return { fences, rest: rest.join('\n') };
}

/** The names of the tables that a document marks. */
export function tableNames(markdown: string): string[] {
  return [...markdown.matchAll(/^<!-- table: (.+) -->$/gm)].map(([, name = '']) => name);
}

/** The table between `<!-- table: name -->` and `<!-- end -->`, its header first. */
export function tableOf(markdown: string, name: string): Row[] {
  const { inside } = parts(markdown, name);
  const [header = [], , ...rows] = inside
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split(' | ')
        .map((cell) => cell.trim()),
    );
  return [header, ...rows];
}

/** The document with another table under a name, in the form that Prettier gives it. */
export function withTable(markdown: string, name: string, rows: readonly Row[]): string {
  const { before, after } = parts(markdown, name);
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(3, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: Row): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const [header = [], ...others] = rows;
  const rule = widths.map((width) => '-'.repeat(width));
  return `${before}\n\n${[header, rule, ...others].map(line).join('\n')}\n\n${after}`;
}

function parts(markdown: string, name: string) {
  const begin = `<!-- table: ${name} -->`;
  const end = '<!-- end -->';
  const from = markdown.indexOf(begin) + begin.length;
  const to = markdown.indexOf(end, from);
  if (from < begin.length || to < 0) throw new Error(`There is no table ${name}`);
  return {
    before: markdown.slice(0, from),
    inside: markdown.slice(from, to),
    after: markdown.slice(to),
  };
}
