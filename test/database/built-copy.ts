import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandResult } from '../cli/catalogue.js';
import { CommandHost } from '../cli/command-host.js';

/** A running command. */
export interface Running {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves to the exit status. */
  readonly ended: Promise<number | null>;
}

/** A migration for a test. */
export interface TestMigration {
  /** In CamelCase. */
  readonly name: string;
  readonly up: string;
  /** Whether it has `transaction = false`. */
  readonly isBare?: boolean;
  /** Default: nothing. */
  readonly down?: string;
  /** Milliseconds since 1970, behind every migration of the project. Default: the first of them. */
  readonly time?: number;
}

/** A copy of the built project, on the package of this repository, with additional migrations, applied in the given order. */
export class BuiltCopy {
  private readonly started: ChildProcess[] = [];
  private readonly host: CommandHost;
  private written: string[] = [];
  private writes = 0;

  private constructor(readonly folder: string) {
    this.host = new CommandHost(folder);
  }

  static async make(migrations: readonly TestMigration[]): Promise<BuiltCopy> {
    const copy = new BuiltCopy(await mkdtemp(join(tmpdir(), 'catalogue-built-')));
    for (const part of ['dist', 'package.json']) {
      await cp(part, join(copy.folder, part), { recursive: true });
    }
    await symlink(join(process.cwd(), 'node_modules'), join(copy.folder, 'node_modules'));
    await copy.write(migrations);
    return copy;
  }

  /** Runs a command with other additional migrations, in one process for all of these. */
  async runWith(
    migrations: readonly TestMigration[],
    args: readonly string[],
    environment: NodeJS.ProcessEnv,
  ): Promise<CommandResult> {
    await this.write(migrations);
    return this.host.run(args, { environment });
  }

  /** Replaces the additional migrations. */
  async write(migrations: readonly TestMigration[]): Promise<void> {
    await Promise.all(this.written.map((file) => rm(file)));
    // Under another name, since a process imports a file once.
    this.writes += 1;
    this.written = migrations.map(({ name, time }, at) =>
      join(this.folder, 'dist/migrations', `${timeOf(time, at)}-${name}-${this.writes}.js`),
    );
    for (const [at, { name, up, down, isBare, time }] of migrations.entries()) {
      await writeFile(
        this.written[at] ?? '',
        `export class ${name}${timeOf(time, at)} {
           ${isBare ? 'transaction = false;' : ''}
           async up(runner) { await runner.query(${JSON.stringify(up)}); }
           async down(runner) { ${down === undefined ? '' : `await runner.query(${JSON.stringify(down)});`} }
         }`,
      );
    }
  }

  /** Starts a command in a process of its own. */
  run(args: readonly string[], environment: NodeJS.ProcessEnv): Running {
    const child = spawn(process.execPath, ['dist/main.js', ...args], {
      cwd: this.folder,
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.started.push(child);
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const ended = once(child, 'close').then(([status]) => status as number | null);
    return { child, stdout: () => stdout, stderr: () => stderr, ended };
  }

  /** Kills what it has started. */
  kill(): void {
    for (const child of this.started.splice(0)) child.kill('SIGKILL');
  }

  async remove(): Promise<void> {
    await this.host.end();
    this.kill();
    await rm(this.folder, { recursive: true });
  }
}

function timeOf(time: number | undefined, at: number): number {
  return time ?? 9_000_000_000_000 + at;
}
