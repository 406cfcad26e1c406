import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '#server/cli/program.js';
import { checkPeers } from '#server/package.js';
import { migrationsOf } from '#server/project.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalogue-project-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('Migrations are the classes with up of the files that begin with a timestamp', async () => {
  expect(await migrationsOf({ folder })).toEqual([]);
  await mkdir(join(folder, 'migrations'));
  for (const [name, text] of [
    ['2-second.mjs', 'not read'],
    ['2-second.js', 'export class Second { up() {} } export const helper = () => 1;'],
    ['1-first.js', 'export class First { up() {} }'],
    ['1-first.d.ts', 'not read'],
    ['1-first.js.map', 'not read'],
  ] as const)
    await writeFile(join(folder, 'migrations', name), text);
  expect((await migrationsOf({ folder })).map(({ name }) => name)).toEqual(['First', 'Second']);
});

it('A file that cannot be loaded is named, and so is a folder that is not there', async () => {
  const file = join(folder, 'migrations/3-third.js');
  await writeFile(file, `throw new Error('boom');`);
  await expect(migrationsOf({ folder })).rejects.toThrow(`${file} cannot be loaded: boom`);
  const missing = join(folder, 'missing');
  await expect(migrationsOf({ folder: missing })).rejects.toThrow(`There is no folder ${missing}`);
});

it('A copy of a package beside that of @catalogue/server ends a command, and names both', async () => {
  const [packages, ours] = [join(folder, 'node_modules'), await realpath('node_modules')];
  const peers = () => {
    checkPeers({ folder });
  };
  await mkdir(packages);
  expect(peers).not.toThrow();
  await symlink(join(ours, 'typeorm'), join(packages, 'typeorm'));
  expect(peers).not.toThrow();
  await mkdir(join(packages, '@nestjs/common'), { recursive: true });
  const own = await realpath('node_modules/@nestjs/common');
  const project = { module: Object, folder };
  await expect(program(project).parseAsync(['migrate'], { from: 'user' })).rejects.toThrow(
    `two copies of @nestjs/common: the project has ${packages}/@nestjs/common, and @catalogue/server has ${own}`,
  );
});
