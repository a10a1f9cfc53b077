import { afterEach, expect, it, vi } from 'vitest';
import { Pending } from '../../../src/adapters/upstream/pending.ts';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { buildOwnUpstreamRequest } from '../../../src/gateway/ports/link.ts';
import { buildOwnRequest, readServerMessage, type NotificationMessage } from '@assay-mcp/protocol/message';
import { buildNotification } from '@assay-mcp/protocol/reply';

afterEach(() => vi.useRealTimers());

/** Abandons a request whose exchange reports a failure as soon as it is aborted; returns the code of its refusal. */
async function codeOf(timeoutMs: number, giveUp?: (cancellation: Cancellation) => void): Promise<unknown> {
  const cancellation = new Cancellation();
  const settled = new Promise<unknown>((resolve) => {
    const pending: Pending = new Pending({
      server: 's',
      request: { ...buildOwnUpstreamRequest(buildOwnRequest('tools/list', {}), timeoutMs), cancellation },
      settle: (result) => resolve(result.ok ? undefined : result.error.code),
      giveUp: () => pending.fail({ code: 'SERVER_ENDED', server: 's', cause: { code: 'CONNECTION_CLOSED' } }),
    });
  });
  giveUp?.(cancellation);
  return settled;
}

it('an abandoned request fails with that reason, not with the failure of its aborted exchange', async () => {
  expect(await codeOf(1)).toBe('SERVER_TIMEOUT');
  expect(await codeOf(60_000, (cancellation) => cancellation.cancel())).toBe('CANCELLED');
});

const PROGRESS = readServerMessage(
  buildNotification('notifications/progress', { progressToken: 1, progress: 1 }),
) as NotificationMessage; // as it says

it('progress that the client has not asked for extends the time at most tenfold', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  const request = buildOwnUpstreamRequest(buildOwnRequest('tools/call', {}), 50);
  const settled = new Promise<unknown>((resolve) => {
    const pending: Pending = new Pending({
      server: 's',
      request,
      settle: (result) => {
        clearInterval(working);
        resolve(result.ok ? undefined : result.error);
      },
      giveUp: () => undefined,
    });
    const working = setInterval(() => pending.note(PROGRESS), 10);
  });
  await vi.advanceTimersByTimeAsync(5_000);
  const refusal = await settled;
  expect(refusal).toMatchObject({ code: 'SERVER_TIMEOUT', limitMs: 50 });
  const { elapsedMs } = refusal as { elapsedMs: number };
  expect(elapsedMs).toBeGreaterThan(400);
  expect(elapsedMs).toBeLessThanOrEqual(500);
});
