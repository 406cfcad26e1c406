import type { Command } from 'commander';
import { writeStartLine } from '../operations/log.js';
import type { Project } from '../project.js';
import { Settings } from '../settings/settings.js';
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
