// Operators are told of calls that wait, by a webhook and by a program.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, parseJson } from '../support/json.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';
import { callText, serveApi, type WebApi } from '../support/rest-tools.ts';
import { keepToken } from '../support/tokens.ts';

let api: WebApi;
let assay: Gateway;
let admin: AdminClient;
const home = tempDir();
const out = join(home, 'out.json');
const PATH = '/services/T0/B0/s3cretkey99';
const SCRIPT = `require('fs').writeFileSync(${JSON.stringify(out)}, require('fs').readFileSync(0))`;
let config: string;

beforeAll(async () => {
  api = await serveApi();
  config = writeConfig(
    { plain: fixture('plain') },
    {
      settings: {
        approvals: 'gateway',
        'limits.approvalWaitMs': 0,
        'auth.publicUrl': 'https://localhost:8443',
        'approvals.notify': `${api.url}${PATH}`,
        'servers.notify': JSON.stringify([process.execPath, '-e', SCRIPT]),
      },
    },
  );
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  assay = await startGateway({ home, config });
  admin = adminClient(assay, token);
  await assay.settled();
});

it('a call that waits is told, with its tool and a link, without its arguments', async () => {
  expect(await callText(assay, 'plain_echo', { password: 'hunter2hunter2' })).toContain('needs approval');
  const body = await until('the notice arrives', () => api.seen[0]?.body);
  expect(parseJson(body)).toMatchObject({
    kind: 'approvals_waiting',
    count: 1,
    tools: ['plain.echo'],
    servers: ['plain'],
    text: 'Assay: 1 call waits for approval: plain.echo. https://localhost:8443/admin/approvals',
    url: 'https://localhost:8443/admin/approvals',
  });
  expect(body).not.toContain('hunter2');
  // The next one is due in a minute, with all that wait then.
  expect(await callText(assay, 'plain_label')).toContain('needs approval');
  expect(api.seen).toHaveLength(1);
});

it('a test reaches each target, and needs the scope execute', async () => {
  const tested = await runAssay(['approvals', 'notify', '--test', '--config', config, '--home', home]);
  expect([tested.code, tested.stdout]).toEqual([
    0,
    `approvals.notify: sent to ${api.url}\nservers.notify: sent to ${process.execPath}\n`,
  ]);
  await until('the program was run', () => (existsSync(out) ? true : undefined));
  expect(parseJson(readFileSync(out, 'utf8'))).toMatchObject({
    kind: 'test',
    text: 'Assay: a test of servers.notify.',
  });
  const limited = adminClient(assay, await keepToken(home, 'other', { scopes: ['admin'] }));
  expect(verdictOf(await limited.post('/notices/test'))).toBe('403 SCOPE_MISSING');
});

it('nobody is shown the address, which is a secret of the chat', async () => {
  const preferences = listAt((await admin.get('/preferences')).json(), 'preferences');
  const shown = preferences.find((one) => at(one, 'key') === 'approvals.notify');
  expect(shown).toMatchObject({ value: '[masked]', running: '[masked]', origin: 'config_file' });
  const listed = await runAssay(['settings', 'list', '--json', '--config', config, '--home', home]);
  const doctor = await runAssay(['doctor', '--json', '--offline', '--config', config, '--home', home]);
  for (const text of [listed.stdout, doctor.stdout, assay.stderr()])
    expect(text).not.toContain('s3cretkey99');
});
