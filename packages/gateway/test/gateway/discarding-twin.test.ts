import { expect, it } from 'vitest';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { ok } from '@assay-mcp/kit/result';
import { getDefaultSettings } from '../../src/core/resolve-settings.ts';
import { PrivateLinks } from '../../src/gateway/catalog/private-links.ts';
import type { Connect } from '../../src/gateway/ports/link.ts';
import { takeCurrent } from '../../src/gateway/relay/discarding-twin.ts';
import { listLink } from './list-link.ts';
import { listed, SILENT } from './listed-server.ts';

type Taken = ReturnType<typeof takeCurrent>;

/** The twin of a server; `check` runs while the folders of the twin are compared. */
function twin(check: (end: () => void) => boolean): {
  readonly starts: () => number;
  readonly take: (timeoutMs?: number, cancellation?: Cancellation) => Taken;
} {
  let starts = 0;
  const connect: Connect = (_, { events }) => {
    starts += 1;
    const discarded = {
      isOutdated: () => Promise.resolve(check(() => events.ended({ code: 'STDOUT_CLOSED' }))),
      look: () => Promise.resolve({ changes: [], isComplete: true }),
      settle: () => Promise.resolve(),
    };
    return Promise.resolve(ok({ ...listLink(() => '{}'), discarded }));
  };
  const { spec } = listed('a');
  const links = new PrivateLinks({ spec: () => spec, connect, log: SILENT, limits: getDefaultSettings() });
  const profile = { capabilities: '{}', clientInfo: undefined, subject: 'a' };
  const request = { choice: { kind: 'own', key: 'a', profile, rights: 'read' }, session: undefined } as const;
  const take = (timeoutMs = 60_000, cancellation?: Cancellation): Taken =>
    takeCurrent((patience) => links.take(request, patience), { server: 'a', timeoutMs, cancellation });
  return { starts: () => starts, take };
}

it('a twin that ends after each start is started again three times for one call', async () => {
  const { starts, take } = twin((end) => {
    // A loop without end would not fail.
    if (starts() > 10) throw new Error('started too often');
    end();
    return false;
  });
  expect(await take()).toEqual({
    ok: false,
    error: { code: 'SERVER_UNREACHED', server: 'a', cause: { code: 'STDOUT_CLOSED' } },
  });
  expect(starts()).toBe(4);
});

it('a twin whose folders change all the time is used as it is after two new starts', async () => {
  const { starts, take } = twin(() => true);
  expect((await take()).ok).toBe(true);
  expect(starts()).toBe(3);
});

it('a call waits for its turn only within its time limit and until it is cancelled, and holds up no later call', async () => {
  const { starts, take } = twin(() => false);
  const first = await take();
  const cancellation = new Cancellation();
  const cancelled = take(60_000, cancellation);
  const late = take(1);
  const last = take();
  cancellation.cancel();
  expect(await cancelled).toEqual({ ok: false, error: { code: 'CANCELLED' } });
  expect(await late).toMatchObject({ ok: false, error: { code: 'SERVER_UNAVAILABLE', server: 'a' } });
  if (first.ok) first.value.endTurn();
  expect((await last).ok).toBe(true);
  expect(starts()).toBe(1);
});
