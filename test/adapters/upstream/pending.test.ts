import { expect, it } from 'vitest';
import { Pending } from '../../../src/adapters/upstream/pending.ts';
import { Cancellation } from '../../../src/core/cancellation.ts';
import { buildOwnUpstreamRequest } from '../../../src/gateway/ports/link.ts';
import { buildOwnRequest } from '../../../src/protocol/message.ts';

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
