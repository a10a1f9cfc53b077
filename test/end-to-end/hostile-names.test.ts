import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { computeGatewayId } from '../../packages/gateway/src/core/record-ids.ts';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import { bundleWith } from '../support/bundles.ts';
import { runAssay } from '../support/commands.ts';
import { until } from '../support/endings.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, textAt } from '../support/json.ts';
import { fixture, tempDir, writeConfig, writeText } from '../support/paths.ts';
import { openAt } from '../support/stores.ts';
import { keepToken } from '../support/tokens.ts';

const HOSTILE = ['g$(touch PWN)', 'g`id`', 'a;b', 'a\u202eb', 'a\u200bb', 'l\u043ecal', 'a\u001b[31m', "a'b"];
const WHY = /it takes (?:1 to 64 characters|2 to 50 lowercase letters)/;

describe('a name that a shell, a terminal or a person could misread', () => {
  const home = tempDir();
  let admin: AdminClient;
  beforeAll(async () => {
    const store = await openAt({ home, databaseUrl: undefined });
    const sealed = { keyId: 'k', sealed: 'x', createdMs: 1, author: 'ada' };
    const body = { name: 'old$(id)', ...sealed };
    const change = { kind: 'gateway', id: computeGatewayId(body.name), body } as const;
    await store.commit({ changes: [change], expectedRevisions: [], audit: [] });
    await store.close();
    const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
    const servers = { 'c`id`': fixture('plain'), plain: fixture('plain') };
    const assay = await startGateway({ servers, home });
    await assay.settled();
    admin = adminClient(assay, token);
  });

  it('is refused by REST, with the same code and at the name', async () => {
    for (const name of HOSTILE)
      for (const [path, body, pointer, code] of [
        ['/gateways', { name, url: 'http://127.0.0.1:9/mcp' }, '/name', 'BODY_INVALID'],
        ['/gateways', { gateway: { name, url: 'http://127.0.0.1:9/mcp' } }, '/gateway/name', 'BODY_INVALID'],
        ['/tokens', { name, scopes: ['mcp'] }, '/name', 'BODY_INVALID'],
        ['/toolsets', { name, tools: [] }, '/name', 'BODY_INVALID'],
        [
          '/import',
          {
            bundle: bundleWith({
              gateway: [{ name, entry: { url: 'http://127.0.0.1:9' }, createdMs: 0, author: 'a' }],
            }),
          },
          '/bundle/records/0/body/name',
          'BODY_INVALID',
        ],
      ] as const) {
        const answer = await admin.post(path, body);
        expect([path, name, verdictOf(answer)]).toEqual([path, name, `422 ${code}`]);
        const [first] = listAt(answer.json(), 'errors');
        expect([path, at(first ?? null, 'pointer')]).toEqual([path, pointer]);
        expect(textAt(first ?? null, 'detail')).toMatch(WHY);
      }
  });

  it('names an existing entry in an error that says what to do, and the others go on', async () => {
    const gateways = listAt((await admin.get('/gateways')).json(), 'gateways');
    const states = gateways.map((one) => [
      textAt(one, 'name'),
      textAt(one, 'state'),
      at(one, 'causeCode') ?? '',
    ]);
    expect(states).toEqual([
      ['plain', 'up', ''],
      ['c`id`', 'refused', 'ENTRY_INVALID'],
      ['old$(id)', 'refused', 'NAME_INVALID'],
    ]);
    const removed = await admin.delete(`/gateways/${computeGatewayId('old$(id)')}`);
    expect(removed.status).toBe(204);
  });

  it('is refused by every command that takes a new one', async () => {
    const config = writeConfig({});
    const before = readFileSync(config, 'utf8');
    const env = { ASSAY_HOME: tempDir(), ASSAY_CONFIG: config };
    const openapi = writeText(
      '{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}',
      'pets.json',
    );
    for (const args of [
      ['add', 'g$(id)', 'http://127.0.0.1:9/mcp'],
      ['openapi', openapi, '--name', 'g$(id)'],
      ['token', 'create', 'l\u043ecal'],
      ['toolset', 'create', 'g$(id)', 'a.b'],
    ]) {
      const { code, stderr } = await runAssay(args, { env });
      expect([args, code, stderr]).toEqual([args, 2, expect.stringMatching(WHY)]);
    }
    const client = writeText(
      JSON.stringify({ mcpServers: { 'g$(id)': { command: 'x' }, good: { command: 'x' } } }),
    );
    const { stdout } = await runAssay(['import', client, '--json'], { env });
    const servers = listAt(JSON.parse(stdout) as never, 'servers');
    expect(servers.map((one) => [textAt(one, 'name'), textAt(one, 'outcome'), at(one, 'reason')])).toEqual([
      ['g$(id)', 'skipped', expect.stringMatching(WHY)],
      ['good', 'copied', undefined],
    ]);
    expect(readFileSync(config, 'utf8')).not.toBe(before);
    expect(readFileSync(config, 'utf8')).not.toContain('$(id)');
  });
});

it('is never completed, if an upstream server calls its tool so', async () => {
  const home = tempDir();
  const tools = [...HOSTILE, 'read.me'].map((name) => toolNamed(name));
  const config = writeConfig({ files: filedServer(tools).entry });
  const assay = await startGateway({ config, home });
  await assay.settled();
  // Commands complete from the stored lists, which are written soon after.
  const stored = join(home, 'catalog.json');
  await until('the list is stored', () =>
    existsSync(stored) && readFileSync(stored, 'utf8').includes('read.me') ? true : undefined,
  );
  const env = { ASSAY_HOME: home, ASSAY_CONFIG: config };
  const { stdout } = await runAssay(['complete', '--', 'toolset', 'add', 'mine', ''], { env });
  expect(stdout).toBe('files.read.me\t\n:4\n');
});
