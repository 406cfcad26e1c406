import type { Command } from 'commander';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommandError } from '../command-error.js';
import type { Project } from '../project.js';

const MISSING =
  'The command needs @catalogue/mcp: install what npm pack writes in packages/client and packages/mcp of a checkout, ' +
  'or run there npm --prefix packages/mcp ci && npm --prefix packages/mcp run build';

export function mcpCommand(catalogue: Command, { folder }: Project): void {
  const mcp = catalogue.command('mcp').allowUnknownOption().allowExcessArguments();
  mcp.description('serve models, as CLIENT_ID with ACCESS_TOKEN at CATALOGUE_URL, on stdio');
  mcp.action(async () => {
    // Among the packages of the project; in a checkout, where `packages/mcp` knows itself by its name.
    const { resolve } = createRequire(join(folder, '../packages/mcp/package.json'));
    try {
      // A program, which reads its options itself. The service does not depend on it.
      await import(pathToFileURL(resolve('@catalogue/mcp')).href);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      throw code.endsWith('MODULE_NOT_FOUND') ? new CommandError(MISSING) : error;
    }
  });
}
