import { expect, it } from 'vitest';
import { computeReadiness, type ReadinessFacts } from '../../src/core/readiness.ts';

const WELL: ReadinessFacts = {
  isStopping: false,
  isStoreStale: false,
  storeFault: undefined,
  keyFault: undefined,
  isConfigInvalid: false,
};
const UNREACHABLE = { code: 'STORE_NOT_FOLLOWED', notifications: 'unreachable' } as const;

it.each<[Partial<ReadinessFacts>, string]>([
  [{}, 'ready'],
  [{ storeFault: UNREACHABLE }, 'degraded store_unavailable'],
  [{ storeFault: { code: 'STORE_UNAVAILABLE', reason: 'x' } }, 'degraded store_unavailable'],
  [{ storeFault: { code: 'STORE_MOVED', path: '/a', what: 'gone' } }, 'degraded store_unavailable'],
  [{ storeFault: { code: 'STORE_NOT_FOLLOWED', notifications: 'silent' } }, 'degraded store_not_followed'],
  [{ keyFault: { code: 'KEY_DIFFERS', key: 'a', keys: [] } }, 'degraded key_unusable'],
  [{ isConfigInvalid: true }, 'degraded config_invalid'],
  [{ isStoreStale: true, storeFault: UNREACHABLE }, 'unavailable store_stale store_unavailable'],
  [{ isStopping: true, isConfigInvalid: true }, 'unavailable stopping config_invalid'],
])('a process with %o is %s', (facts, expected) => {
  const { status, reasons } = computeReadiness({ ...WELL, ...facts });
  expect([status, ...reasons].join(' ')).toBe(expected);
});
