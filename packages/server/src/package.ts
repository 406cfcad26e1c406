import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { CommandError } from './command-error.js';
import type { Project } from './project.js';

const { version, peerDependencies, peerDependenciesMeta } = createRequire(import.meta.url)(
  '../package.json',
) as {
  version: string;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, object>;
};

/** The version of the service. */
export const VERSION = version;

/**
 * Checks that the project and this package share what both import. Nest, TypeORM and the like keep what they are told in
 * their modules, so that each of two copies would lack what the other one was told.
 *
 * @throws CommandError if there are two copies of one
 */
export function checkPeers({ folder }: Pick<Project, 'folder'>): void {
  for (const [name, range] of Object.entries(peerDependencies)) {
    if (name in peerDependenciesMeta) continue;
    const own = packageFolder(name, import.meta.url);
    const theirs = packageFolder(name, join(folder, 'main.js'));
    if (own === undefined || theirs === undefined || own === theirs) continue;
    throw new CommandError(
      `There are two copies of ${name}: the project has ${theirs}, and @catalogue/server has ${own}. ` +
        `Depend on ${name} ${range} in package.json, remove node_modules and install again; ` +
        'do not link @catalogue/server to a folder that has packages of its own',
    );
  }
}

/** Where a file finds a package; `undefined` if it does not, or not in a folder. */
function packageFolder(name: string, file: string): string | undefined {
  // By the folders: a package need not export what `require` resolves.
  const folders = createRequire(file).resolve.paths(name) ?? [];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  return found && realpathSync(found);
}
