// A call whose approval was to be used up by a write whose outcome is unknown.
import { expect, it } from 'vitest';
import { adminClient, verdictOf } from '../support/admin.ts';
import { until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at, textAt } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { newDatabase } from '../support/postgres.ts';
import { openPostgresLine } from '../support/postgres-line.ts';
import { keepToken } from '../support/tokens.ts';

it('is not sent, and its approval is not used a second time', async () => {
  const [home, databaseUrl] = [tempDir(), await newDatabase()];
  const token = await keepToken(home, 'boss', { scopes: ['admin'], databaseUrl });
  const line = await openPostgresLine(databaseUrl);
  const assay = await startGateway({
    home,
    servers: { plain: fixture('plain') },
    settings: { settings: { approvals: 'gateway', 'limits.approvalWaitMs': 0, 'activity.calls': false } },
    env: { ASSAY_DATABASE_URL: line.url },
  });
  await assay.settled();
  const session = await openSession(assay.url);
  const approve = async (): Promise<void> => {
    const answer = await session.ask('tools/call', { name: 'plain_counter', arguments: {} });
    const id = textAt(at(answer, 'result', '_meta', 'assay/refusal') ?? null, 'approval');
    const approved = await adminClient(assay, token).post(`/approvals/${id}/approve`, { scope: 'once' });
    expect(verdictOf(approved)).toBe('200');
  };
  await approve();
  const cut = line.cutAfterCommit('update "assay_approvals"').then(() => line.cut('all'));
  const answer = await session.ask('tools/call', { name: 'plain_counter', arguments: {} });
  await cut;
  expect(JSON.stringify(answer)).toContain('WRITE_UNCONFIRMED');

  line.restore();
  await until(
    'a call is asked about again',
    async () => (await session.call('plain_counter')).includes('needs approval') || undefined,
  );
  await approve();
  expect(await session.call('plain_counter')).toBe('1');
});
