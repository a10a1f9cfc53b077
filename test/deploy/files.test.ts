import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { at, type JsonObject } from '../support/json.ts';
import { ROOT, tempDir } from '../support/paths.ts';

const DEPLOY = join(ROOT, 'deploy');
const CHART = join(DEPLOY, 'helm', 'assay');

const readDeploy = (...path: readonly string[]): string => readFileSync(join(DEPLOY, ...path), 'utf8');
const readYaml = (...path: readonly string[]): JsonObject => load(readDeploy(...path)) as JsonObject;

describe('the values of the chart', () => {
  const check = new Ajv({ allErrors: true, strict: true, strictRequired: false, strictTypes: false }).compile(
    JSON.parse(readDeploy('helm', 'assay', 'values.schema.json')) as JsonObject,
  );
  const values = readYaml('helm', 'assay', 'values.yaml');
  /** Where the schema finds a fault. */
  const faultsOf = (more: JsonObject): readonly string[] => {
    check({ ...values, ...more });
    return (check.errors ?? []).map(({ instancePath, params }) =>
      [instancePath, ...Object.values(params as JsonObject)].join(' '),
    );
  };

  it('are valid as they are, and with what the renderer is tried with', () => {
    expect(faultsOf({})).toEqual([]);
    for (const name of ['minimal', 'full'])
      expect([
        name,
        faultsOf(
          load(readFileSync(join(ROOT, 'test', 'deploy', 'chart', `${name}.yaml`), 'utf8')) as JsonObject,
        ),
      ]).toEqual([name, []]);
  });

  const secrets = values['secrets'] as JsonObject;
  it.each<[string, JsonObject, string]>([
    ['a misspelled member', { replica: 3 }, 'replica'],
    ['a number in quotes', { replicas: '3' }, '/replicas'],
    ['no replica', { replicas: 0 }, '/replicas'],
    ['plain http', { publicUrl: 'http://assay.example.com' }, '/publicUrl'],
    ['a secret as a value', { secrets: { ...secrets, token: { value: 'abcdef' } } }, '/secrets/token value'],
    ['a secret in env', { env: { ASSAY_TOKEN: 'abcdef' } }, '/env'],
    ['servers in two places', { config: { mcpServers: {}, extra: { mcpServers: {} } } }, '/config/extra'],
    ['an image without a fixed version', { image: { repository: 'assay', tag: 'latest' } }, '/image/tag'],
    [
      'an ingress without TLS',
      { ingress: { enabled: true, host: 'assay.example.com' } },
      '/ingress tlsSecret',
    ],
    [
      'a budget that lets no node drain',
      { podDisruptionBudget: { maxUnavailable: 0 } },
      '/podDisruptionBudget/maxUnavailable',
    ],
    [
      'an upstream that is open to all',
      { networkPolicy: { upstreams: [{ to: [], ports: [443] }] } },
      '/networkPolicy/upstreams/0/to',
    ],
  ])('are refused with %s', (_, more, where) => {
    expect(faultsOf(more).filter((fault) => fault.includes(where))).not.toEqual([]);
  });
});

describe('compose.yaml', () => {
  const services = Object.entries(readYaml('compose.yaml')['services'] as Record<string, JsonObject>).map(
    ([name, service]) => [name, { ...(service['<<'] as JsonObject | undefined), ...service }] as const,
  );

  it.each(services)('confines %s, and gives it a bound of memory', (_, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      restart: 'unless-stopped',
    });
  });

  it('has no secret in it, and publishes on loopback only', () => {
    const text = readDeploy('compose.yaml');
    const environments = services.map(([, service]) =>
      Object.keys((service['environment'] ?? {}) as JsonObject),
    );
    expect(
      environments
        .flat()
        .filter((name) => /TOKEN|PASSWORD|KEY|DATABASE_URL/.test(name) && !name.endsWith('_FILE')),
    ).toEqual([]);
    expect([...text.matchAll(/^ {4}ports: (.*)$/gm)].map(([, ports]) => ports)).toEqual([
      "['${ASSAY_ADDRESS:-127.0.0.1}:443:443', '${ASSAY_ADDRESS:-127.0.0.1}:80:80']",
    ]);
  });
});

it('images are pinned to an exact version, and named without a registry', () => {
  const named = [
    ...[...readDeploy('Dockerfile').matchAll(/^ARG BASE=(.+)$/gm)].map(([, image]) => image ?? ''),
    ...Object.values(readYaml('compose.yaml')['services'] as JsonObject).flatMap((service) => {
      const image = at(service, 'image');
      return typeof image === 'string' && !image.startsWith('assay:') ? [image] : [];
    }),
  ];
  expect(named).toHaveLength(3);
  for (const image of named) expect(image).toMatch(/^[a-z]+:\d+\.\d+(?:\.\d+)?-[a-z-]+$/);
});

it('the image has a numeric user, and what it copies is a closed list', () => {
  const dockerfile = readDeploy('Dockerfile');
  expect(dockerfile).toMatch(/^USER \d+:\d+$/m);
  const [first] = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(first).toBe('*');
});

it('templates of the chart name secrets and contain none', () => {
  for (const file of globSync('templates/*', { cwd: CHART })) {
    const text = readDeploy('helm', 'assay', file);
    expect([file, /kind: Secret$/m.test(text), /stringData|b64enc|randAlpha/.test(text)]).toEqual([
      file,
      false,
      false,
    ]);
  }
});

describe('the entry point of the image', () => {
  const run = (env: Readonly<Record<string, string>>): string => {
    const shown = ['sh', '-c', 'echo "token=$ASSAY_TOKEN"'];
    const { status, stdout, stderr } = spawnSync('sh', [join(DEPLOY, 'entrypoint.sh'), ...shown], {
      env: { PATH: process.env['PATH'], ...env },
      encoding: 'utf8',
    });
    return `${status} ${stdout}${stderr}`.trim();
  };
  const file = join(tempDir(), 'token');
  writeFileSync(file, 'secret $(id) "x"\n');

  it('reads a variable from the file that NAME_FILE names, and expands nothing in it', () => {
    expect(run({ ASSAY_TOKEN_FILE: file })).toBe('0 token=secret $(id) "x"');
    expect(run({ ASSAY_TOKEN: 'plain' })).toBe('0 token=plain');
    expect(run({})).toBe('0 token=');
  });

  it('says which variable or file cannot be used', () => {
    const empty = join(tempDir(), 'empty');
    writeFileSync(empty, '');
    expect(run({ ASSAY_TOKEN_FILE: file, ASSAY_TOKEN: 'plain' })).toMatch(
      /^2 .*ASSAY_TOKEN and ASSAY_TOKEN_FILE/,
    );
    expect(run({ ASSAY_TOKEN_FILE: '/nowhere' })).toMatch(/^2 .*names \/nowhere, which is not a file/);
    expect(run({ ASSAY_TOKEN_FILE: tempDir() })).toMatch(/^2 .*is not a file/);
    expect(run({ ASSAY_TOKEN_FILE: empty })).toMatch(/^2 .*is empty/);
  });
});

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;
// Debian's package is systemd; the unit is of no use without it.
describe.skipIf(!hasAnalyze)('the unit for a server', () => {
  const unit = readDeploy('systemd', 'assay.service').replace('/usr/local/bin/assay', process.execPath);
  const analyze = (text: string, ...args: readonly string[]): string => {
    const path = join(tempDir(), 'assay.service');
    writeFileSync(path, text);
    const { stdout, stderr } = spawnSync('systemd-analyze', [...args, path], { encoding: 'utf8' });
    return stdout + stderr;
  };
  const scoreOf = (text: string): number =>
    Number(/exposure level for \S+: ([\d.]+)/.exec(analyze(text, 'security', '--offline=true'))?.[1]);

  it('is valid', () => {
    expect(analyze(unit, 'verify')).toBe('');
    expect(analyze(unit.replace('ProtectHome', 'ProtectHme'), 'verify')).toContain('ProtectHme');
  });

  it('exposes no more than its comment says, with servers in sandboxes and without', () => {
    expect(scoreOf(unit)).toBeLessThanOrEqual(2.9);
    const without = unit
      .replace('SystemCallFilter=@mount\n', '')
      .replaceAll(/^#(RestrictNamespaces|SystemCallFilter|ProtectKernel)/gm, '$1');
    expect(scoreOf(without)).toBeLessThanOrEqual(1.5);
  });
});
