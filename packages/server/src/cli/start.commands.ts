import type { Command } from 'commander';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommandError } from '../command-error.js';
import type { Project } from '../project.js';
import { Settings } from '../settings/settings.js';
import { writeStartLine } from '../operations/start-line.js';
import { withDatabase } from './open-catalogue.js';
import { stopSignal } from './stop-signal.js';

export function startCommand(catalogue: Command, project: Project): void {
  catalogue
    .command('start')
    .description('run the service until SIGINT or SIGTERM; the command by default')
    .action(() => start(project));
}

/** Runs the service. Resolves after SIGINT or SIGTERM, when everything is closed. */
async function start(project: Project): Promise<void> {
  const settings = new Settings(process.env);
  const stop = stopSignal();
  // The service continues if the reader of its log disconnects.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  // It loads while the database starts.
  const loading = import('./serve.js');
  await withDatabase(
    settings,
    async (url, embedded) => {
      const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
      await embedded?.claim(
        `another catalogue service (pid ${process.pid}, http://${host}:${settings.port})`,
      );
      const { serve } = await loading;
      await serve(project, url, settings, stop, embedded);
    },
    {
      onNotice: (notice) => {
        writeStartLine('warn', notice);
      },
    },
  );
}

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
