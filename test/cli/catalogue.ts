import { spawn } from 'node:child_process';

/** What a command did. */
export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command line as a user does. */
export async function catalogue(
  args: string[],
  environment: NodeJS.ProcessEnv,
  input: string | Buffer = '',
): Promise<CommandResult> {
  const child = spawn(process.execPath, ['dist/main.js', ...args], {
    env: { PATH: process.env.PATH, ...environment },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, stdout, stderr };
}
