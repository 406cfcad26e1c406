import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { errors } from '../src/http/errors.js';

const readme = await readFile('README.md', 'utf8');

/** The cells of the table below a heading, without its header. */
function table(heading: string): string[][] {
  const [, section = ''] = readme.split(`\n## ${heading}\n`);
  const rows = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  );
}

describe('The README', () => {
  it('lists every error as the service gives it, and no other', () => {
    const expected = Object.values(errors).map(({ errcode, statuses, condition, message }) => [
      `\`${errcode}\``,
      statuses.join(', '),
      condition,
      `\`${message}\``,
    ]);
    expect(table('Errors')).toEqual(expected);
  });

  it('gives every errcode once', () => {
    const codes = Object.values(errors).map(({ errcode }) => errcode);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('lists every variable that the service reads, and no other', async () => {
    const source = await readFile('src/settings/settings.ts', 'utf8');
    const read = [...source.matchAll(/read\('([A-Z_]+)'/g)].map(([, name]) => `\`${name}\``);
    expect(
      table('Settings')
        .map(([name]) => name)
        .sort(),
    ).toEqual(read.sort());
  });
});
