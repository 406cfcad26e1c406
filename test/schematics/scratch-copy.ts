import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type CommandResult, runNode } from '../cli/catalogue.js';
import { CommandHost, type CommandOptions } from '../cli/command-host.js';
import { transpile } from '../../transpile.mjs';

/** What is made or downloaded, and packages of their own. */
const LEFT_OUT = ['.git', '.env', '.data', 'node_modules', 'coverage', 'bench', 'examples'];

/** A copy of the project in which a test may generate, build and run what it likes. */
export class ScratchCopy {
  private readonly started: ChildProcess[] = [];
  private readonly host: CommandHost;
  private builds = 0;

  /** When it was built last: its sources are those that the project was built from. */
  private built = Date.now();

  private constructor(readonly folder: string) {
    this.host = new CommandHost(folder);
  }

  static async make(): Promise<ScratchCopy> {
    const folder = await mkdtemp(join(tmpdir(), 'catalogue-copy-'));
    for (const part of await readdir('.')) {
      if (!LEFT_OUT.includes(part)) cpSync(part, join(folder, part), { recursive: true });
    }
    await linkPackages(folder);
    const copy = new ScratchCopy(folder);
    await copy.touch();
    return copy;
  }

  /** Runs a Node program in it, and gives what it printed without colours. */
  async run(
    args: readonly string[],
    { environment }: { environment?: NodeJS.ProcessEnv } = {},
  ): Promise<CommandResult> {
    return withoutColours(await runNode(args, { folder: this.folder, environment }));
  }

  /** Runs a spec of the copy, on the server of the tests that run. */
  jest(spec: string): Promise<CommandResult> {
    const environment = { TEST_DATABASE_URL: process.env.TEST_SERVER_URL };
    return this.run(['node_modules/jest/bin/jest.js', spec], { environment });
  }

  nest(...args: string[]): Promise<CommandResult> {
    return this.run(['node_modules/@nestjs/cli/bin/nest.js', ...args]);
  }

  /** Builds what has changed since it was built last. */
  async transpile(): Promise<void> {
    const since = this.built;
    this.built = Date.now();
    await transpile(join(this.folder, 'src'), join(this.folder, 'dist'), since);
    const server = join(this.folder, 'packages/server');
    await transpile(join(server, 'src'), join(server, 'dist'), since);
    await this.touch();
    this.builds += 1;
  }

  /** Makes the build newer than its sources: a command would build again otherwise. */
  private async touch(): Promise<void> {
    await utimes(join(this.folder, 'dist/main.js'), new Date(), new Date());
  }

  /**
   * What `npm run resource --` does with each of several arguments, one after the other in one process.
   *
   * @param databaseUrl where it looks for existing tables
   */
  async resources(
    all: readonly (readonly string[])[],
    databaseUrl?: string,
  ): Promise<CommandResult[]> {
    const program = 'test/fixtures/generate-resource.mjs';
    const environment = databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl };
    const results = all.map((args) => this.host.run(args, { program, environment }));
    return (await Promise.all(results)).map(withoutColours);
  }

  /** Checks the format, the style and the types of files of it, and gives what is wrong. */
  check(files: readonly string[]): Promise<CommandResult> {
    return this.run(['test/fixtures/check-sources.mjs', ...files]);
  }

  /** Runs a command line of what is built, in one process for all builds. */
  command(args: readonly string[], options: CommandOptions): Promise<CommandResult> {
    const build = `dist-${this.builds}`;
    const [from, to] = [join(this.folder, 'dist'), join(this.folder, build)];
    if (!existsSync(to)) {
      cpSync(from, to, { recursive: true });
      const server = join(this.folder, 'packages/server');
      // The pages of the documentation are large, and no command reads them.
      const filter = (path: string) => !path.startsWith(join(server, 'dist/@scalar'));
      for (const part of ['package.json', 'dist'])
        cpSync(join(server, part), join(to, 'node_modules/@catalogue/server', part), {
          recursive: true,
          filter,
        });
    }
    return this.host.run([build, ...args], { ...options, program: 'test/fixtures/run-build.mjs' });
  }

  catalogue(args: readonly string[], databaseUrl: string): Promise<CommandResult> {
    return this.command(args, { environment: { DATABASE_URL: databaseUrl } });
  }

  /** Runs several command lines one after the other. */
  catalogues(
    commandLines: readonly (readonly string[])[],
    databaseUrl: string,
  ): Promise<CommandResult[]> {
    return Promise.all(commandLines.map((args) => this.catalogue(args, databaseUrl)));
  }

  /** Starts its service on a database and gives its address. */
  async start(databaseUrl: string): Promise<string> {
    const child = spawn(process.execPath, ['dist/main.js', 'start'], {
      cwd: this.folder,
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: databaseUrl,
        PORT: '0',
        ADMIN_PORT: '0',
        HOST: '127.0.0.1',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.started.push(child);
    let output = '';
    return new Promise((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const address = /listens on (http:\/\/[\d.:]+)/.exec(output)?.[1];
        if (address) resolve(address);
      });
      child.once('exit', () => {
        reject(new Error(`The service ended: ${output}`));
      });
    });
  }

  /** The paths of all its own files, sorted. */
  async files(): Promise<string[]> {
    const found = await Promise.all(
      ['src', 'test', 'packages/schematics'].map(async (folder) => {
        const entries = await readdir(join(this.folder, folder), {
          recursive: true,
          withFileTypes: true,
        });
        return entries
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name).slice(this.folder.length + 1));
      }),
    );
    return found.flat().sort();
  }

  /** Stops the services that it has started. */
  async stop(): Promise<void> {
    for (const child of this.started) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null && child.kill()) await gone;
    }
  }

  async remove(): Promise<void> {
    await this.host.end();
    await this.stop();
    await rm(this.folder, { recursive: true });
  }
}

/** Makes the packages of this project those of a copy, and its own packages those in the copy. */
async function linkPackages(folder: string): Promise<void> {
  const [from, to] = [join(process.cwd(), 'node_modules'), join(folder, 'node_modules')];
  await mkdir(join(to, '@catalogue'), { recursive: true });
  for (const name of await readdir(from))
    if (name !== '@catalogue') await symlink(join(from, name), join(to, name));
  for (const [name, path] of [
    ['server', 'packages/server'],
    ['schematics', 'packages/schematics'],
    ['client', 'packages/client'],
  ] as const)
    await symlink(join(folder, path), join(to, '@catalogue', name));
}

function withoutColours({ status, stdout, stderr }: CommandResult): CommandResult {
  return {
    status,
    stdout: stripVTControlCharacters(stdout),
    stderr: stripVTControlCharacters(stderr),
  };
}
