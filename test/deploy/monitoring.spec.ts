import { beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { errors } from '#server/http/errors.js';
import { sharedService } from '../service.js';
import { withTool } from '../tools.js';
import { HAPROXY, Proxy } from './proxy.js';

const ALERTS = 'deploy/prometheus/alerts.yml';

const service = sharedService();
/** The names of all time series, as they are in a query. */
let series: Set<string>;
let alerts: string;
/** The queries of the dashboard. */
let queries: string[];

beforeAll(async () => {
  const { text } = await service.anonymous().get('/metrics').expect(200);
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  series = new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => name + end) : [name],
    ),
  );
  alerts = await readFile(ALERTS, 'utf8');
  const { panels } = JSON.parse(await readFile('deploy/grafana/catalogue.json', 'utf8')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
});

const namesIn = (text: string): string[] => [
  ...new Set(text.match(/\b(catalogue|process|nodejs)_[a-z0-9_]+/g)),
];

describe('The dashboard and the alerts', () => {
  it('name metrics that the service has', () => {
    expect(queries.length).toBeGreaterThan(20);
    for (const text of [alerts, ...queries]) {
      expect(namesIn(text).filter((name) => !series.has(name))).toEqual([]);
    }
  });

  it('show every metric of the service', () => {
    const shown = namesIn([alerts, ...queries].join('\n'));
    const own = [...series].filter((name) => /^catalogue_.*(?<!_sum)$/.test(name));
    expect(own.filter((name) => !shown.includes(name))).toEqual([]);
  });

  it('name errcodes that there are', () => {
    const codes = Object.values(errors).map(({ errcode }) => String(errcode));
    const named = [...alerts.matchAll(/errcode=~?"([^"]+)"/g)].flatMap(([, text = '']) =>
      text.split('|'),
    );
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((code) => !codes.includes(code))).toEqual([]);
  });

  it('have each alert in the runbook, and in its own test', async () => {
    const names = [...alerts.matchAll(/alert: (\w+)/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(10);
    const [, runbook = ''] = (await readFile('docs/operations.md', 'utf8')).split('\n## Runbook\n');
    const inRunbook = [...runbook.matchAll(/`(Catalogue\w+)`/g)].map(([, name = '']) => name);
    expect([...new Set(inRunbook)].sort()).toEqual([...names].sort());
    const tests = await readFile('deploy/prometheus/alerts.test.yml', 'utf8');
    expect(names.filter((name) => !tests.includes(`alertname: ${name}`))).toEqual([]);
  });
});

withTool(HAPROXY).it(
  'name metrics that the proxy has, and it counts there what it answers by itself',
  async () => {
    const named = [...alerts.matchAll(/\bhaproxy_\w+\{[^}]+\}/g)].map(([selector]) => selector);
    expect(named.length).toBeGreaterThan(4);
    // Without an instance, as when all of them have lost their database.
    const proxy = await Proxy.before({ PORT: '1', ADMIN_PORT: '1' }, []);
    const refused = await fetch(`http://127.0.0.1:${proxy.port}/brands`);
    expect(refused.status).toBe(503);
    const lines = (await proxy.metrics()).split('\n').map((line) => line.split(' '));
    const values = new Map(lines.map(([name = '', value]) => [name, Number(value)]));
    await proxy.close();
    for (const selector of named) {
      const [name = '', ...labels] = selector.split(/[{},]/).filter((part) => part !== '');
      const found = [...values.keys()].filter(
        (key) => key.startsWith(`${name}{`) && labels.every((label) => key.includes(label)),
      );
      expect([selector, found.length > 0]).toEqual([selector, true]);
    }
    expect(values.get('haproxy_backend_active_servers{proxy="instances"}')).toBe(0);
    expect(values.get('haproxy_frontend_http_responses_total{proxy="catalogue",code="5xx"}')).toBe(
      1,
    );
  },
);

// Not among the tools of `.ci/run`: the package of Debian brings a server, which starts by itself and
// takes the default of ADMIN_PORT.
const ifPromtool = hasPromtool() ? it : it.skip;

ifPromtool('promtool accepts the alerts, and their tests pass', async () => {
  await promisify(execFile)('promtool', ['check', 'rules', ALERTS]);
  const { stdout, stderr } = await promisify(execFile)('promtool', [
    'test',
    'rules',
    'deploy/prometheus/alerts.test.yml',
  ]);
  expect(stdout + stderr).toContain('SUCCESS');
});

function hasPromtool(): boolean {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
