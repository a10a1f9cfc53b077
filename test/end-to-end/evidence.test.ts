// Evidence of verifications contains what other callers sent, so only the scope `admin` sees it.
import { expect, it } from 'vitest';
import type { ToolVerification } from '../../packages/gateway/src/core/hints/tool-verification.ts';
import { adminClient } from '../support/admin.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { until } from '../support/endings.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { startGateway } from '../support/gateway.ts';
import { openStream } from '../support/http.ts';
import { at, listAt, textAt } from '../support/json.ts';
import { tempDir } from '../support/paths.ts';
import { openAt } from '../support/stores.ts';
import { bearer, keepToken } from '../support/tokens.ts';

endAfterEach();

const SECRET = 'salaries-of-anna';

it('no answer to the scope read contains evidence or what it is about, but the verdict remains', async () => {
  const home = tempDir();
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  const readerToken = await keepToken(home, 'reader', { scopes: ['read'] });
  const { entry } = filedServer([toolNamed('peek', { annotations: { readOnlyHint: true } })]);
  const assay = await startGateway({ servers: { s: entry }, home });
  await assay.settled();
  const [admin, reader] = [adminClient(assay, token), adminClient(assay, readerToken)];
  const id = textAt(listAt((await admin.get('/tools')).json(), 'tools')[0] ?? null, 'id');
  await admin.ask('PATCH', `/tools/${id}`, { body: { confirm: 'always' } });
  const events = await openStream(`http://127.0.0.1:${assay.port}/events`, {
    method: 'GET',
    headers: bearer(readerToken),
  });
  const store = await openAt({ home, databaseUrl: undefined });
  const read = await store.records(0);
  const record = read.ok ? read.value.records.find(({ kind }) => kind === 'tool') : undefined;
  if (record?.kind !== 'tool' || record.body === undefined) throw new Error('no record');
  const digest = textAt(
    (await admin.get(`/tools/${id}/claims`)).json(),
    'hints',
    'readOnlyHint',
    'claims',
    0,
    'digest',
  );
  const effect = {
    effect: 'create',
    message: `created /${SECRET}`,
    target: `/${SECRET}`,
    call: 1,
    args: `{"path":"/${SECRET}"}`,
  };
  const atMs = Date.now();
  const verification: ToolVerification = {
    ...{ digest, atMs, author: 'boss', mechanisms: ['overlay'] },
    server: { name: 's', version: '1', packageDigest: '' },
    hints: { readOnlyHint: { kind: 'contradicted', atMs, evidence: [{ ...effect, atMs }] } },
  };
  await store.commit({
    changes: [{ kind: 'tool', id: record.id, body: { ...record.body, verification } }],
    expectedRevisions: [],
    audit: (['tool.contradict', 'tool.deny'] as const).map((action) => ({
      ...{ atMs, subject: 'boss', action, after: { target: SECRET } },
      target: { kind: 'tool', id, name: 's.peek' },
    })),
  });
  await until('it is in force', async () =>
    (await admin.get(`/tools/${id}`)).text.includes(`{\\"path\\":\\"/${SECRET}`) ? true : undefined,
  );
  const shown = (await reader.get(`/tools/${id}`)).json();
  expect(at(shown, 'verification', 'hints', 'readOnlyHint')).toMatchObject({ verdict: 'contradicted' });
  expect(at(shown, 'hints', 'readOnlyHint')).toMatchObject({
    isContradicted: true,
    reason: 'observed by "boss"',
  });
  const paths = [
    '/tools',
    '/tools?summary=true',
    `/tools/${id}`,
    `/tools/${id}/claims`,
    `/tools/${id}/decision`,
  ];
  for (const path of [
    ...paths,
    '/activity',
    '/gateways',
    '/search?query=peek',
    '/activity/calls',
    '/catalog',
  ]) {
    const { text } = await reader.get(path);
    expect([path, text.includes(SECRET)]).toEqual([path, false]);
  }
  const event = await events.next('an event', (one) => at(one, 'action') === 'tool.deny');
  expect(JSON.stringify(event)).not.toContain(SECRET);
  for (const path of ['/activity', `/tools/${id}/claims`, `/tools/${id}/decision`])
    expect([path, (await admin.get(path)).text.includes(SECRET)]).toEqual([path, true]);
});
