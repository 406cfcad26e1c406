import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** The exit status and output of a command. */
export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What every program of the tests has in its environment: PATH, and no variable of a `.env` in the project. */
export const BARE_ENVIRONMENT: NodeJS.ProcessEnv = {
  ...(existsSync('.env')
    ? Object.fromEntries(
        Object.keys(parseEnv(readFileSync('.env', 'utf8'))).map((name) => [name, '']),
      )
    : {}),
  PATH: process.env.PATH,
};

/** Runs the built command line in a process of its own. A `CommandHost` runs many in a fraction of the time. */
export function catalogue(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  input: string | Buffer = '',
): Promise<CommandResult> {
  return runNode(['dist/main.js', ...args], { environment, input });
}

/** Runs a Node program with only PATH and the given environment. Default folder: the project's. */
export async function runNode(
  args: readonly string[],
  {
    folder,
    environment = {},
    input = '',
  }: { folder?: string; environment?: NodeJS.ProcessEnv; input?: string | Buffer } = {},
): Promise<CommandResult> {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...BARE_ENVIRONMENT, ...environment },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, stdout, stderr };
}
