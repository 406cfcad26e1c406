/** Files that a project has as this repository does. `npm pack` copies them into the package, by `node shared.js <folder>`. */
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

export const SHARED = [
  '.editorconfig',
  '.env.example',
  '.prettierrc',
  '.swcrc',
  'deploy/database.sh',
  'deploy/errors',
  'deploy/haproxy.cfg',
  'deploy/passwords.sh',
  'deploy/postgres.sh',
  'deploy/replica.sh',
  'deploy/restart.sh',
  'deploy/secrets.sh',
  'docker-compose.yml',
];

/** @param {string} from @param {string} to */
export function copyShared(from, to) {
  for (const path of SHARED) cpSync(`${from}/${path}`, `${to}/${path}`, { recursive: true });
}

const [, program, folder] = process.argv;
if (program === fileURLToPath(import.meta.url) && folder) copyShared(REPOSITORY, folder);
