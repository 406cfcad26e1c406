import { type Command, InvalidArgumentError, Option } from 'commander';
import type { FileFormat } from '../import/file-rows.js';
import type { Project } from '../project.js';
import type { ImportFlags } from './import-file.js';
import { withResource } from './open-catalogue.js';

export function importCommand(catalogue: Command, project: Project): void {
  catalogue
    .command('import')
    .description('load a file into a resource: all rows or none')
    .argument('<resource>')
    .argument(
      '<file>',
      'CSV, NDJSON or a list in JSON, optionally compressed with gzip; - for standard input',
    )
    .addOption(formatOption(['csv', 'ndjson', 'json'], 'from the file name, otherwise csv'))
    .option(
      '--delimiter <character>',
      'what separates the columns of CSV; tab for a tab; default: ,',
    )
    .option('--map <field=column>', 'read a field from a column with another name', assignment)
    .option('--set <field=value>', 'set a field to the same value in every row', assignment)
    .option('--number', 'identify the rows by their numbers, from 1')
    .option('--replace', 'also delete objects that are not in the file')
    .option('--allow-deletes', 'let --replace delete more than a fifth of the objects')
    .option('--allow-invisible', 'take identifiers with characters that are not seen')
    .option('--dry-run', 'run the import, then roll it back')
    .action(async (resource: string, file: string, flags: ImportFlags, audit: Command) => {
      const { importFile } = await import('./import-file.js');
      await importFile(project, resource, file, flags, audit);
    });
}

export function exportCommand(catalogue: Command, project: Project): void {
  catalogue
    .command('export')
    .description('write all objects of a resource to standard output')
    .argument('<resource>')
    .addOption(formatOption(['csv', 'ndjson']).default('csv'))
    .action(async (resource: string, { format }: { format: FileFormat }, audit: Command) => {
      const { exportRows } = await import('../import/export-rows.js');
      await withResource(
        project,
        resource,
        (runner, metadata) => exportRows(runner, metadata, format, process.stdout),
        audit,
      );
    });
}

/** @param fallback description of the default, if that is not a constant */
function formatOption(formats: string[], fallback?: string): Option {
  const description = fallback === undefined ? 'file format' : `file format; default: ${fallback}`;
  return new Option('--format <format>', description).choices(formats);
}

/** Collects repeated options of the form `name=value` into a map. Each name may appear once. */
function assignment(
  value: string,
  before: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, string> {
  const equals = value.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('It must be of the form field=…');
  const name = value.slice(0, equals);
  if (before.has(name)) throw new InvalidArgumentError(`${name} is given twice.`);
  return new Map([...before, [name, value.slice(equals + 1)]]);
}
