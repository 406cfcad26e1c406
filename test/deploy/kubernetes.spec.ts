import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.js';
import type { Job } from 'kubernetes-types/batch/v1.js';
import type { Container, PodSpec, Service, Volume } from 'kubernetes-types/core/v1.js';
import type { LabelSelector, ObjectMeta } from 'kubernetes-types/meta/v1.js';
import type { Ingress } from 'kubernetes-types/networking/v1.js';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js';
import ts from 'typescript';
import { parse, parseAllDocuments } from 'yaml';
import { program } from '#server/cli/program.js';
import { Settings } from '#server/settings/settings.js';
import { variables } from '../docs/expected-tables.js';
import { fencesOf } from '../docs/markdown.js';
import { PROJECT } from '../project.js';
import { sharedService } from '../service.js';

const FOLDER = 'deploy/kubernetes';
/** What CloudNativePG writes into the secret of the example database. */
const URI = 'postgresql://catalogue:Secret1@catalogue-db-rw.shop:5432/catalogue';
/** The variable of each file of the secrets. */
const SECRETS = {
  DATABASE_URL_FILE: ['catalogue-db-app', 'uri'],
  DATABASE_REPLICA_URLS_FILE: ['catalogue-replicas', 'urls'],
};

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** The kinds of the manifests. npm has no types of the last two, which are those of operators. */
interface Kinds {
  Deployment: Deployment;
  Job: Job;
  Service: Service;
  Ingress: Ingress;
  HorizontalPodAutoscaler: HorizontalPodAutoscaler;
  PodDisruptionBudget: PodDisruptionBudget;
  ServiceMonitor: Manifest & {
    readonly spec: {
      readonly jobLabel: string;
      readonly selector: LabelSelector;
      readonly endpoints: readonly { readonly port: string; readonly path: string }[];
    };
  };
  Cluster: Manifest & {
    readonly spec: {
      readonly postgresql: { readonly parameters: Readonly<Record<string, string>> };
      readonly resources: { readonly limits: { readonly memory: string } };
      readonly bootstrap: { readonly initdb: Readonly<Record<string, unknown>> };
    };
  };
}

const service = sharedService();
let folder: string;
/** Every manifest, by its kind and its name. */
let manifests: Map<string, Manifest>;
let deployment: Deployment;
let pod: PodSpec;
let container: Container;
let jobPod: PodSpec;
let jobContainer: Container;
let environment: NodeJS.ProcessEnv;
let settings: Settings;
let readme: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalogue-kubernetes-'));
  readme = await readFile(`${FOLDER}/README.md`, 'utf8');
  const paths = (await readdir(FOLDER, { recursive: true })).filter((path) =>
    /(?<!kustomization)\.yaml$/.test(path),
  );
  const documents = await Promise.all(paths.map((path) => documentsOf(`${FOLDER}/${path}`)));
  manifests = new Map(
    documents.flat().map((each) => [`${each.kind} ${each.metadata.name ?? ''}`, each]),
  );
  deployment = get('Deployment');
  pod = podOf(deployment);
  container = containerOf(pod);
  jobPod = podOf(get('Job', 'catalogue-migrate'));
  jobContainer = containerOf(jobPod);
  environment = environmentOf(container);
  const url = join(folder, 'database-url');
  await writeFile(url, URI);
  settings = new Settings({
    ...environment,
    DATABASE_URL_FILE: url,
    DATABASE_REPLICA_URLS_FILE: url,
  });
});
afterAll(() => rm(folder, { recursive: true }));

async function documentsOf(path: string): Promise<Manifest[]> {
  return parseAllDocuments(await readFile(path, 'utf8')).map((each) => each.toJS() as Manifest);
}

function get<Kind extends keyof Kinds>(kind: Kind, name = 'catalogue'): Kinds[Kind] {
  const found = manifests.get(`${kind} ${name}`);
  if (!found) throw new Error(`There is no ${kind} ${name}`);
  return found as Kinds[Kind];
}

function podOf({ spec }: Deployment | Job): PodSpec {
  if (!spec?.template.spec) throw new Error('There is no pod');
  return spec.template.spec;
}

function containerOf({ containers: [first, ...others] }: PodSpec): Container {
  if (!first || others.length > 0) throw new Error('A pod must have one container');
  return first;
}

function environmentOf({ env = [] }: Container): NodeJS.ProcessEnv {
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

/** The path of each file in a volume, with its secret and the key there. */
function filesOf(volume: Volume | undefined) {
  const { secret, projected } = volume ?? {};
  const sources = projected?.sources?.map((each) => each.secret) ?? [
    { name: secret?.secretName, items: secret?.items },
  ];
  return sources.flatMap((source) =>
    (source?.items ?? []).map(({ key, path }) => [path, [source?.name, key]] as const),
  );
}

it('Each manifest has fields of its kind, with values of their types', () => {
  const known = [...manifests.values()].filter(
    ({ apiVersion }) => !/^(postgresql\.cnpg\.io|monitoring\.coreos\.com)\//.test(apiVersion),
  );
  expect(known.map(({ kind }) => kind).sort()).toEqual([
    'Deployment',
    'HorizontalPodAutoscaler',
    'Ingress',
    'Job',
    'PodDisruptionBudget',
    'Service',
    'Service',
  ]);
  const source = known.map((each, at) => {
    const module = each.apiVersion.replace(/^v1$/, 'core/v1').replace('.k8s.io', '');
    const type = `import('kubernetes-types/${module}').${each.kind}`;
    return `export const manifest${at}: Required<Pick<${type}, 'apiVersion' | 'kind'>> & ${type} = ${JSON.stringify(each, null, 1)};`;
  });
  expect(typeErrorsOf(source.join('\n'))).toEqual([]);
});

/** What TypeScript says of a module. */
function typeErrorsOf(source: string): string[] {
  const file = join(process.cwd(), 'manifests.ts');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es5.d.ts'],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...others) =>
    name === file
      ? ts.createSourceFile(name, source, ts.ScriptTarget.ES2022)
      : read(name, ...others);
  return ts
    .getPreEmitDiagnostics(ts.createProgram([file], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

it('Each manifest is in the kustomization, but for the database and the monitor, which need an operator', async () => {
  const { resources, images } = parse(await readFile(`${FOLDER}/kustomization.yaml`, 'utf8')) as {
    resources: string[];
    images: Record<string, string>[];
  };
  const own = [...manifests.values()].filter(({ apiVersion }) => !/cnpg|coreos/.test(apiVersion));
  const listed = await Promise.all(resources.map((path) => documentsOf(`${FOLDER}/${path}`)));
  expect(
    listed
      .flat()
      .map(({ kind }) => kind)
      .sort(),
  ).toEqual(own.map(({ kind }) => kind).sort());
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  expect(images).toEqual([expect.objectContaining({ name: 'catalogue', newTag: version })]);
  expect([container.image, jobContainer.image]).toEqual(['catalogue', 'catalogue']);
});

it('Each manifest has the labels of Kubernetes, by which the README tells the job from the rest', () => {
  for (const { metadata } of manifests.values()) {
    expect(Object.keys(metadata.labels ?? {})).toEqual(
      ['name', 'component', 'part-of'].map((label) => `app.kubernetes.io/${label}`),
    );
  }
  const COMPONENT = 'app.kubernetes.io/component';
  const component = get('Job', 'catalogue-migrate').metadata?.labels?.[COMPONENT] ?? '';
  const { fences } = fencesOf(readme);
  const commands = fences.map(({ text }) => text).join('');
  expect(commands).toContain(`-l ${COMPONENT}=${component}\n`);
  expect(commands).toContain(`-l '${COMPONENT}!=${component}'\n`);
  const same = [...manifests.values()].filter(
    ({ metadata }) => metadata.labels?.[COMPONENT] === component,
  );
  expect(same).toHaveLength(1);
});

it('The manifests name each other: from the ingress and the monitor to the ports of the instances', () => {
  const labels = deployment.spec?.template.metadata?.labels;
  const api = get('Service');
  const admin = get('Service', 'catalogue-admin');
  const selectors: (LabelSelector | undefined)[] = [
    deployment.spec?.selector,
    get('PodDisruptionBudget').spec?.selector,
    ...(pod.topologySpreadConstraints ?? []).map(({ labelSelector }) => labelSelector),
    { matchLabels: api.spec?.selector },
    { matchLabels: admin.spec?.selector },
  ];
  expect(selectors).toHaveLength(6);
  for (const selector of selectors)
    expect(labels).toMatchObject(selector?.matchLabels ?? { no: '' });
  // The pods of the job get no requests.
  const jobLabels = get('Job', 'catalogue-migrate').spec?.template.metadata?.labels;
  expect(jobLabels).not.toMatchObject(api.spec?.selector ?? {});

  const portsOf = ({ spec }: Service) =>
    spec?.ports?.map(({ name, targetPort }) => [name, targetPort]);
  expect([portsOf(api), portsOf(admin)]).toEqual([[['http', 'http']], [['admin', 'admin']]]);
  const [rule] = get('Ingress').spec?.rules ?? [];
  expect(rule?.http?.paths.map(({ backend }) => backend.service)).toEqual([
    { name: api.metadata?.name, port: { name: 'http' } },
  ]);
  expect(get('HorizontalPodAutoscaler').spec?.scaleTargetRef).toEqual({
    apiVersion: deployment.apiVersion,
    kind: deployment.kind,
    name: deployment.metadata?.name,
  });
  const monitor = get('ServiceMonitor').spec;
  expect(admin.metadata?.labels).toMatchObject(monitor.selector.matchLabels ?? {});
  expect(api.metadata?.labels).not.toMatchObject(monitor.selector.matchLabels ?? {});
  expect(monitor.endpoints).toMatchObject([{ port: 'admin' }]);
  // The name of the job in the alerts.
  expect(admin.metadata?.labels?.[monitor.jobLabel]).toBe('catalogue');
});

it('Probes and monitor name paths and ports that the service has', async () => {
  const ports = container.ports?.map(({ name, containerPort }) => [name, containerPort]);
  expect(ports).toEqual([
    ['http', settings.port],
    ['admin', settings.adminPort],
  ]);
  const [endpoint] = get('ServiceMonitor').spec.endpoints;
  const { startupProbe, livenessProbe, readinessProbe } = container;
  const probes = [startupProbe, livenessProbe, readinessProbe].map((each) => each?.httpGet);
  expect(probes.map((each) => each?.port)).toEqual(['admin', 'admin', 'admin']);
  for (const path of [...probes.map((each) => each?.path), endpoint?.path]) {
    await service
      .anonymous()
      .get(path ?? '')
      .expect(200);
  }
  expect(readinessProbe?.httpGet?.path).toBe('/health/ready');
});

describe('The environment', () => {
  it('has settings that there are, and the job those that it shares with the instances', () => {
    const known = [...variables(), ...Object.keys(SECRETS)];
    const job = environmentOf(jobContainer);
    expect(Object.keys(environment).filter((name) => !known.includes(name))).toEqual([]);
    expect(environment).toMatchObject(job);
    expect(job).toHaveProperty('DATABASE_URL_FILE');
  });

  it('names files of the secrets', () => {
    for (const each of [pod, jobPod]) {
      const { volumeMounts } = containerOf(each);
      const mount = volumeMounts?.find(({ name }) => name === 'secrets')?.mountPath ?? '';
      const files = filesOf(each.volumes?.find(({ name }) => name === 'secrets'));
      const named = Object.entries(environmentOf(containerOf(each)))
        .filter(([name]) => name.endsWith('_FILE'))
        .map(([name, path]) => [path, SECRETS[name as keyof typeof SECRETS]]);
      expect(named).toEqual(files.map(([path, secret]) => [`${mount}/${path}`, secret]));
      expect(named).not.toEqual([]);
    }
  });

  it('has the URL of the replicas by the command of the README', async () => {
    const { fences } = fencesOf(readme);
    const command = fences.find(({ text }) => text.includes('create secret'))?.text ?? '';
    // In place of a cluster: prints the secret, and keeps what becomes another one.
    const stub = `kubectl() { case $1 in get) printf %s '${URI}' ;; *) cat > replicas; echo "$@" ;; esac; }`;
    const { stdout } = await promisify(execFile)('sh', ['-euc', `${stub}\n${command}`], {
      cwd: folder,
    });
    const [secret, key] = SECRETS.DATABASE_REPLICA_URLS_FILE;
    expect(stdout).toBe(`create secret generic ${secret} --from-file=${key}=/dev/stdin\n`);
    const { databaseUrl, replicaUrls } = new Settings({
      DATABASE_URL_FILE: join(folder, 'database-url'),
      DATABASE_REPLICA_URLS_FILE: join(folder, 'replicas'),
    });
    expect(databaseUrl).toBe(URI);
    expect(replicaUrls).toEqual([URI.replace('-rw', '-ro')]);
  });
});

it('The pods run commands of the image, as its user, who may write nothing', async () => {
  const dockerfile = await readFile('Dockerfile', 'utf8');
  expect(dockerfile).toContain('ENTRYPOINT ["catalogue"]\nCMD ["start"]\n');
  // The user of the images of Node.js whose number is 1000.
  expect(dockerfile).toContain('\nUSER node\n');
  expect([container.command, container.args, jobContainer.command]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  const commands = program(PROJECT).commands.map((each) => each.name());
  expect(jobContainer.args).toEqual(['migrate']);
  expect(commands).toContain('migrate');
  for (const each of [pod, jobPod]) {
    expect(each).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsUser: 1000,
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      },
    });
    expect(containerOf(each).securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  }
});

it('An instance has time to end, after the proxies have learnt of it', async () => {
  const closing = await readFile('packages/server/src/http/server/enveloped-server.ts', 'utf8');
  const deadline = Number(/const DEADLINE = ([\d_]+);/.exec(closing)?.[1]?.replace('_', ''));
  const grace = pod.terminationGracePeriodSeconds ?? 0;
  expect(grace * 1000).toBeGreaterThan(settings.drain + deadline);
  const { periodSeconds = 10, failureThreshold = 3 } = container.readinessProbe ?? {};
  expect(settings.drain).toBeGreaterThan(periodSeconds * failureThreshold * 1000);
});

describe('The example of a database', () => {
  const cluster = () => get('Cluster', 'catalogue-db').spec;

  it('has a connection for all that the processes open at most', async () => {
    const [, primary, more, replica] =
      /An instance opens at most `POOL_SIZE` \+ (\d) connections to the database, with replicas (one) more, and `POOL_SIZE` \+ (\d) to\s+each of them/.exec(
        await readFile('docs/operations.md', 'utf8'),
      ) ?? [];
    expect(more).toBe('one');
    // A replica that has become the primary may still have the connections of a replica.
    const each = settings.poolSize + Number(primary) + 1 + settings.poolSize + Number(replica);
    const { maxReplicas } = get('HorizontalPodAutoscaler').spec ?? {
      maxReplicas: 0,
    };
    const surge = Number(deployment.spec?.strategy?.rollingUpdate?.maxSurge);
    // With this pause an instance has ended before the next one does.
    expect(deployment.spec?.minReadySeconds).toBeGreaterThanOrEqual(
      pod.terminationGracePeriodSeconds ?? Infinity,
    );
    const ending = 1;
    const job = 1;
    const processes = maxReplicas + surge + ending + job;
    const reserve = 10;
    const sum = processes * each + reserve;
    const text = await readFile(`${FOLDER}/database/cluster.yaml`, 'utf8');
    expect(text).toContain(`# ${processes} × ${each} + ${reserve} = ${sum} at most:`);
    expect(Number(cluster().postgresql.parameters.max_connections)).toBeGreaterThanOrEqual(sum);
  });

  it('has the parameters of deploy/postgres.sh for its memory, and the limits of the compose file', async () => {
    const script = await readFile('deploy/postgres.sh', 'utf8');
    const gibibytes = Number(/^(\d+)Gi$/.exec(cluster().resources.limits.memory)?.[1]);
    const part = (of: string): string => {
      const [, times = '1', share = ''] = /megabytes (?:\* (\d) )?\/ (\d+)/.exec(of) ?? [];
      return `${(gibibytes * 1024 * Number(times)) / Number(share)}MB`;
    };
    const expected = [...script.matchAll(/^ {2}-c "?([a-z_]+)=(.+?)"? \\$/gm)].map(
      ([, name = '', value = '']) => [name, value.startsWith('$') ? part(value) : value],
    );
    expect(expected).toHaveLength(6);
    const compose = await readFile('docker-compose.yml', 'utf8');
    const [, slots] = /max_slot_wal_keep_size=(\w+)/.exec(compose) ?? [];
    expect(cluster().postgresql.parameters).toEqual({
      ...Object.fromEntries(expected),
      max_connections: expect.any(String),
      max_slot_wal_keep_size: slots,
    });
  });

  it('sorts text as the embedded one, and owns the names that the secrets have', () => {
    const { database, owner, encoding, locale, localeProvider, builtinLocale } =
      cluster().bootstrap.initdb;
    expect({ encoding, locale, localeProvider, builtinLocale }).toEqual({
      encoding: 'UTF8',
      locale: 'C',
      localeProvider: 'builtin',
      builtinLocale: 'C.UTF-8',
    });
    expect([database, owner]).toEqual(['catalogue', 'catalogue']);
    expect(SECRETS.DATABASE_URL_FILE[0]).toBe(
      `${get('Cluster', 'catalogue-db').metadata.name ?? ''}-app`,
    );
  });
});

// A clone does not need it.
(hasKubectl() ? it : it.skip)(
  'kubectl puts the manifests together, with the image of the kustomization',
  async () => {
    const { stdout } = await promisify(execFile)('kubectl', ['kustomize', FOLDER]);
    const built = parseAllDocuments(stdout).map((each) => each.toJS() as Manifest);
    expect(built).toHaveLength(7);
    const images = [...stdout.matchAll(/ image: (\S+)/g)].map(([, image]) => image);
    expect(images).toEqual(
      Array(2).fill(expect.stringMatching(/^registry\.example\.com\/catalogue:/)),
    );
  },
);

function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
