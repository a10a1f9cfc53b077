import { describe, expect, it } from 'vitest';
import type { DeclaredHints } from '@assay-mcp/kit/hint';
import type { Cause } from '../../../src/core/cause.ts';
import {
  getDelivery,
  mayRepeat,
  computeRepeatDelayMs,
  computeMaxRepeats,
  type Delivery,
} from '../../../src/core/policy/retry.ts';
import type { Refusal } from '../../../src/core/refusal.ts';
import { ALL_HINTS, claimsOf, type Source, toolWith } from './tools.ts';

function isRepeated(...claims: readonly (readonly [DeclaredHints, Source])[]): boolean {
  return mayRepeat(toolWith(claims.flatMap(([hints, source]) => claimsOf(hints, source))).hints);
}

describe('a call', () => {
  it.each(['trusted', 'override'] as const)(
    'may be retried if the tool is read-only or idempotent: %s',
    (source) => {
      for (const hints of ALL_HINTS) {
        const reads = hints.readOnlyHint === true && hints.destructiveHint !== true;
        expect
          .soft(isRepeated([hints, source]), JSON.stringify(hints))
          .toBe(reads || hints.idempotentHint === true);
      }
    },
  );

  it.each(['untrusted', 'observed'] as const)('is never retried because of a hint that is %s', (source) => {
    for (const hints of ALL_HINTS) {
      expect.soft(isRepeated([hints, source]), JSON.stringify(hints)).toBe(false);
      for (const trusted of ALL_HINTS)
        if (isRepeated([hints, source], [trusted, 'trusted']) && !isRepeated([trusted, 'trusted']))
          expect.fail(`${source} ${JSON.stringify(hints)} made ${JSON.stringify(trusted)} repeatable`);
    }
  });
});

const PROCESS_EXITED: Cause = { code: 'PROCESS_EXITED', exitCode: 7 };

function ended(cause: Cause): Refusal {
  return { code: 'SERVER_ENDED', server: 's', cause };
}

function answered(status: number): Refusal {
  const cause: Cause = { code: status >= 500 ? 'HTTP_SERVER_ERROR' : 'HTTP_STATUS_UNEXPECTED', status };
  return { code: 'SERVER_UNAVAILABLE', server: 's', cause, httpStatus: status };
}

/** The classification, the retries of a repeatable call and of any other call, and the failure. */
const FAILURES: readonly (readonly [Delivery, number, number, Refusal])[] = [
  ['unsent', 3, 1, { code: 'SERVER_UNREACHED', server: 's', cause: { code: 'CONNECTION_REFUSED' } }],
  ['lost', 3, 0, ended({ code: 'CONNECTION_CLOSED' })],
  ['lost', 3, 0, ended({ code: 'RESPONSE_INCOMPLETE' })],
  ['lost', 3, 0, ended({ code: 'HTTP_SERVER_ERROR', status: 503 })],
  ['lost', 3, 0, answered(502)],
  ['lost', 3, 0, answered(503)],
  ['lost', 3, 0, answered(504)],
  ['lost', 3, 0, { code: 'SESSION_RENEWED', server: 's', cause: { code: 'SESSION_EXPIRED' } }],
  ['lost', 1, 0, ended(PROCESS_EXITED)],
  ['lost', 1, 0, ended({ code: 'STDOUT_CLOSED' })],
  ['uncertain', 0, 0, answered(500)],
  ['uncertain', 0, 0, ended({ code: 'RESPONSE_INVALID', reason: 'x' })],
  ['uncertain', 0, 0, ended({ code: 'MEMORY_EXCEEDED', limitMb: 1 })],
  ['uncertain', 0, 0, ended({ code: 'SHUTTING_DOWN' })],
  ['uncertain', 0, 0, { code: 'SERVER_TIMEOUT', server: 's', limitMs: 1 }],
  ['uncertain', 0, 0, { code: 'SERVER_MESSAGE_INVALID', server: 's', reason: 'x' }],
  ['refused', 0, 0, answered(429)],
  ['refused', 0, 0, { code: 'SERVER_UNAVAILABLE', server: 's', cause: { code: 'CONNECTION_REFUSED' } }],
  ['refused', 0, 0, { code: 'SERVER_UNAVAILABLE', server: 's', cause: { code: 'REQUEST_LIMIT' } }],
  ['refused', 0, 0, { code: 'SERVER_BUSY', server: 's', cause: { code: 'QUEUE_TOO_LARGE' } }],
  ['refused', 0, 0, { code: 'CANCELLED' }],
];

describe('a failed call', () => {
  it.each(FAILURES)(
    'classified as "%s" is retried %i times if repeatable, otherwise %i',
    (delivery, most, least, refusal) => {
      expect(getDelivery(refusal)).toBe(delivery);
      const times = [true, false].map((isSafe) => computeMaxRepeats(refusal, { max: 3, mayRepeat: isSafe }));
      expect(times).toEqual([most, least]);
      expect(computeMaxRepeats(refusal, { max: 0, mayRepeat: true })).toBe(delivery === 'unsent' ? 1 : 0);
    },
  );

  it('is retried after delays that double, with jitter', () => {
    expect([1, 2, 3].map((repeat) => computeRepeatDelayMs(repeat, 1))).toEqual([100, 200, 400]);
    expect([1, 2, 3].map((repeat) => computeRepeatDelayMs(repeat, 0))).toEqual([50, 100, 200]);
  });
});
