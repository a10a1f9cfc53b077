import { describe, expect, it } from 'vitest';
import {
  type CrashRecord,
  NO_CRASHES,
  findBackoffCause,
  addCrash,
} from '../../../../src/adapters/sources/functions/open-module.ts';
import type { Cause } from '../../../../src/core/cause.ts';

const exited = (exitCode: number): Cause => ({ code: 'PROCESS_EXITED', exitCode });

function after(crashesMs: readonly number[]): CrashRecord {
  return crashesMs.reduce((record, atMs, index) => addCrash(record, exited(index + 1), atMs), NO_CRASHES);
}

const CALM_MS = 120_000;

describe('a process that exits by itself', () => {
  it.each<[what: string, crashesMs: readonly number[], backoffMs: number, firstCause: number | undefined]>([
    ['never', [], 0, undefined],
    ['twice within ten seconds', [0, 9_000], 0, 1],
    ['three times in more than ten seconds', [0, 6_000, 12_000], 0, 1],
    ['three times within ten seconds', [0, 5_000, 9_000], 1_000, 1],
    ['a fourth time, after the rest', [0, 1, 2, 1_100], 2_000, 1],
    ['and again', [0, 1, 2, 1_100, 4_000, 9_000], 8_000, 1],
    ['for ever', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], 60_000, 1],
    ['after a long calm', [0, 1, 2, 2 + 1_000 + CALM_MS], 0, 4],
  ])('%s backs off for this long', (_, crashesMs, backoffMs, firstCause) => {
    const record = after(crashesMs);
    expect([record.backoffMs, record.firstCause]).toEqual([
      backoffMs,
      firstCause === undefined ? undefined : exited(firstCause),
    ]);
  });

  it('can be started after the backoff, and not before', () => {
    const record = after([0, 1, 2]);
    expect(findBackoffCause(record, 500)).toBe(
      'its process keeps ending and is started again in 1 s at the earliest; the first time it exited with code 1',
    );
    expect(findBackoffCause(record, 1_002)).toBeUndefined();
  });
});
