import type { Type } from '@nestjs/common';
import { runCommand } from './cli/program.js';
import type { Project } from './project.js';

/**
 * Runs the command line of this process, `start` if it is empty, and sets the exit status: 0 success, 1 failure, 2 wrong
 * usage.
 *
 * @param module the module that imports those of the resources
 * @param folder the folder of the built project: `migrations` in it has the migrations, `../demo` the demonstration
 * @param configure called with the application that serves, before it is initialised, such as for `app.use`
 */
export function run(module: Type, folder: string, configure?: Project['configure']): void {
  // Not awaited here: if nothing is left that could end the command, `runCommand` says so and sets the status.
  void runCommand({ module, folder, configure }, process.argv.slice(2)).then(
    (status) => (process.exitCode = status),
  );
}
