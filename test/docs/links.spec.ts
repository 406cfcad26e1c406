import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { documents, fencesOf } from './markdown.js';

const texts = await documents();

/** Documents that are read as a whole. */
const MAXIMUM_LINES = {
  'README.md': 200,
  'docs/api.md': 600,
  'docs/architecture.md': 350,
  'docs/changing-operation.md': 260,
  'docs/changing.md': 310,
  'docs/operations.md': 600,
  'docs/resources.md': 500,
};

/** Files in folders of the project, and those of the service, which documents name. */
const FOLDERS = new RegExp(
  '^(?:(?:src|test|docs|bench|deploy|packages|examples|demo|\\.ci)/' +
    `|(?:${readdirSync('packages/server/src').join('|')})/.*\\.(?:ts|js|sql|md)$)`,
);

/** A document of a package names its files from its folder, and one about changes from that of the service. */
function folderOf(path: string): string {
  if (path.startsWith('docs/changing')) return 'packages/server/src/';
  return /^packages\/[^/]+\//.exec(path)?.[0] ?? '';
}

/** Every path of the project that a document names in code or in a drawing. Examples name any path. */
function pathsIn(markdown: string): string[] {
  const { fences, rest } = fencesOf(markdown);
  const code = [...rest.matchAll(/`([^`\n]+)`/g)].map(([, each = '']) => each);
  const drawings = fences.filter(({ language }) => language === 'mermaid');
  const words = [...code, ...drawings.map(({ text }) => text)].flatMap((each) =>
    each.split(/[\s,"[\]]+|<br>/),
  );
  return words.filter((word) => FOLDERS.test(word) && !/[<>…*]/.test(word));
}

/** What GitHub calls a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function anchorsIn(text: string): string[] {
  return [...fencesOf(text).rest.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    anchorOf(heading),
  );
}

describe.each([...texts])('%s', (path, text) => {
  it('names only files that there are', () => {
    // Readers generate a resource, and types of the client. Specs are named without an ending.
    const missing = pathsIn(text).filter(
      (each) =>
        ![each, folderOf(path) + each].some((file) =>
          ['', '.spec.ts', '.system.spec.ts'].some((ending) => existsSync(file + ending)),
        ) && !/^src\/(suppliers|catalogue\.ts$)/.test(each),
    );
    expect(missing).toEqual([]);
  });

  it('links only to what there is', () => {
    const links = [...fencesOf(text).rest.matchAll(/\]\(([^)\s]+)\)/g)].map(
      ([, link = '']) => link,
    );
    const broken = links.filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : normalize(join(dirname(path), file));
      if (!existsSync(target)) return true;
      return anchor !== undefined && !anchorsIn(texts.get(target) ?? '').includes(anchor);
    });
    expect(broken).toEqual([]);
  });
});

it.each(Object.entries(MAXIMUM_LINES))('%s has at most %d lines', (path, maximum) => {
  expect((texts.get(path) ?? '').trimEnd().split('\n').length).toBeLessThanOrEqual(maximum);
});
