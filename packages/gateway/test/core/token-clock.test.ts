import { createReachRules } from '../../src/core/reach-rules.ts';
import { expect, it } from 'vitest';
import { mintToken } from '../../src/adapters/auth/mint-token.ts';
import { getDefaultSettings } from '../../src/core/resolve-settings.ts';
import { createSteadyClock } from '../../src/core/token.ts';
import { ok } from '@assay-mcp/kit/result';
import { openGate } from '../../src/app/gate.ts';
import { bearer } from '../../../../test/support/tokens.ts';
import { token } from '../../../../test/support/store-values.ts';

const HOUR_MS = 3_600_000;

it('a steady clock follows forward steps of the system clock, ignores backward ones, and never stops', () => {
  let [wallMs, monotonicMs] = [1_000_000, 50];
  const clock = createSteadyClock(
    () => wallMs,
    () => monotonicMs,
  );
  const after = (wallStepMs: number, passedMs: number): number => {
    wallMs += wallStepMs;
    monotonicMs += passedMs;
    return clock();
  };
  expect(after(10, 10)).toBe(1_000_010);
  expect(after(5_000, 10)).toBe(1_005_010);
  expect(after(-HOUR_MS, 10)).toBe(1_005_020);
  expect(after(0, 990)).toBe(1_006_010);
  expect(after(2 * HOUR_MS, 0)).toBe(1_000_000 + 10 + 5_000 + HOUR_MS);
});

it('a token that has expired stays expired when the system clock is set back', async () => {
  let wallMs = 1_790_000_000_000;
  const { text, id, hash } = mintToken();
  const kept = token(id, { hash, expiresMs: wallMs + HOUR_MS });
  const gate = await openGate({
    store: {
      tokens: () => Promise.resolve(ok([kept])),
      sessions: () => Promise.resolve(ok([])),
      addSession: () => Promise.resolve(ok(true)),
      useSession: () => Promise.resolve(ok(undefined)),
      removeSessions: () => Promise.resolve(ok(undefined)),
      onChange: () => () => undefined,
    },
    operatorToken: undefined,
    isLocalOnly: true,
    ownToken: mintToken(),
    log: { debug() {}, info() {}, warn() {}, error() {} },
    settings: getDefaultSettings(),
    rules: createReachRules({ isOnNetwork: false, allowLoopback: false, allowPrivate: false }),
    resource: undefined,
    clock: createSteadyClock(
      () => wallMs,
      () => 0,
    ),
  });
  const isAccepted = async (): Promise<boolean> =>
    (await gate.admit(bearer(text).authorization, '127.0.0.1', wallMs)).ok &&
    gate.isHolder({ subject: kept.name, tokenId: kept.id }, 'read', wallMs);
  expect(await isAccepted()).toBe(true);
  wallMs += HOUR_MS;
  expect(await isAccepted()).toBe(false);
  wallMs -= 2 * HOUR_MS;
  expect(await isAccepted()).toBe(false);
  gate.close();
});

it('the steady clock returns whole milliseconds, as databases store them', () => {
  let atMs = 0.3;
  const clock = createSteadyClock(
    () => 1_000,
    () => (atMs += 0.7),
  );
  const read = [clock(), clock(), clock()];
  expect(read).toEqual([1_000, 1_001, 1_002]);
});
