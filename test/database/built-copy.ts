import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
  /** The resource whose table it creates, if it is as the generator writes it. */
  readonly creates?: string;
  /** Milliseconds since 1970, behind every migration of the project. Default: the first of them. */
  readonly time?: number;
}

/** A copy of the built service with additional migrations, applied in the given order. */
export class BuiltCopy {
  private readonly started: ChildProcess[] = [];

  private constructor(private readonly folder: string) {}

  static async make(migrations: readonly TestMigration[]): Promise<BuiltCopy> {
    const folder = await mkdtemp(join(tmpdir(), 'catalogue-built-'));
    for (const part of ['dist', 'package.json']) {
      await cp(part, join(folder, part), { recursive: true });
    }
    await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
    for (const [at, migration] of migrations.entries()) {
      const { name, up, down, creates, isBare = false, time = 9_000_000_000_000 + at } = migration;
      await writeFile(
        join(folder, 'dist/database/migrations', `${time}-${name}.js`),
        `export class ${name}${time} {
           ${isBare ? 'transaction = false;' : ''}
           ${creates === undefined ? '' : `creates = ${JSON.stringify(creates)};`}
           async up(runner) { await runner.query(${JSON.stringify(up)}); }
           async down(runner) { ${down === undefined ? '' : `await runner.query(${JSON.stringify(down)});`} }
         }`,
      );
    }
    return new BuiltCopy(folder);
  }

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

  async remove(): Promise<void> {
    for (const child of this.started) child.kill('SIGKILL');
    await rm(this.folder, { recursive: true });
  }
}
