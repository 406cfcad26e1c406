import { expect } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { withTool } from '../tools.js';

const { it } = withTool({
  name: 'flock',
  isThere: spawnSync('flock', ['--version']).status === 0,
  install: 'apt-get install util-linux',
});

it('A restart is refused while another one is under way, before it does anything', () => {
  const { status, stdout, stderr } = spawnSync(
    'flock',
    ['deploy/restart.sh', 'deploy/restart.sh'],
    // Its first command would fail without a message.
    { env: { ...process.env, COMPOSE: 'false', ENGINE: 'false' }, encoding: 'utf8' },
  );
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: 'Another restart is under way\n',
  });
});
