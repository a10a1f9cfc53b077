// Assay is killed around the moment at which a call is approved: whatever is lost, the call never runs twice.
import { expect, it, vi } from 'vitest';
import { startAsking } from '../fixtures/asking-http.ts';
import { adminClient } from '../support/admin.ts';
import { startAssay, type Assay } from '../support/assay.ts';
import { IS_LONG, rounds } from '../support/campaign.ts';
import { endLater, kill, sleep, until } from '../support/endings.ts';
import { at, type Json, listAt, textAt } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

vi.setConfig({ testTimeout: 600_000 });

const ROUNDS = rounds({ short: 2, long: 20 });
const MAX_WAIT_MS = 15;

it(`one approval allows at most one call, through ${ROUNDS} kills`, async () => {
  const peer = await startAsking('legacy');
  endLater(() => peer.close());
  const home = tempDir();
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  const start = (waitMs: number): Promise<Assay> => {
    const settings = { approvals: 'gateway', 'limits.approvalWaitMs': waitMs };
    return startAssay({ servers: { s: { url: peer.url } }, settings: { settings }, home });
  };
  const calls = (round: number): number =>
    peer.seen.filter(
      ({ method, params }) => method === 'tools/call' && at(params, 'arguments', 'round') === round,
    ).length;
  const endings = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const params = { name: 's_ask', arguments: { rounds: [], round } };
    const first = await start(60_000);
    await first.settled();
    const admin = adminClient(first, token);
    const lost = (await openSession(first.url)).ask('tools/call', params).catch(() => undefined);
    const id = await until('the call waits', async () => {
      const [one] = listAt((await admin.get('/approvals?state=pending')).json(), 'approvals');
      return one === undefined ? undefined : textAt(one, 'id');
    });
    const approved = admin.post(`/approvals/${id}/approve`, {}).catch(() => undefined);
    // Before the answer in one round, after it in the next.
    if (round % 2 === 1) await approved;
    await sleep((MAX_WAIT_MS * round) / ROUNDS);
    kill(first.pid, 'SIGKILL');
    const isApproved = (await approved)?.status === 200;
    await lost;
    const again = await start(0);
    await again.settled();
    const session = await openSession(again.url);
    const call = async (): Promise<Json | undefined> =>
      at(await session.ask('tools/call', params), 'result', '_meta', 'assay/refusal', 'code');
    const before = calls(round);
    const code = await call();
    // An approval that was acknowledged and not used yet counts after the restart, and then once.
    if (code === undefined) expect([before, calls(round)]).toEqual([0, 1]);
    else expect(code).toBe('APPROVAL_REQUIRED');
    expect(await call()).toBe('APPROVAL_REQUIRED');
    expect(calls(round)).toBeLessThanOrEqual(1);
    endings.add(
      `${isApproved ? 'acknowledged' : 'lost'}, ${code === undefined ? 'used after' : `${before} before`}`,
    );
    const [waiting] = listAt(
      (await adminClient(again, token).get('/approvals?state=pending')).json(),
      'approvals',
    );
    if (waiting !== undefined)
      await adminClient(again, token).post(`/approvals/${textAt(waiting, 'id')}/deny`, {});
    await again.stop();
  }
  console.log([...endings].toSorted().join('\n'));
  expect(endings.size).toBeGreaterThan(IS_LONG ? 1 : 0);
});
