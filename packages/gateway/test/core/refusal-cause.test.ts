import { expect, it } from 'vitest';
import { type Cause, formatCause } from '../../src/core/cause.ts';
import type { Refusal } from '../../src/core/refusal.ts';
import { toCause } from '../../src/core/refusal-cause.ts';

const EXITED: Cause = { code: 'PROCESS_EXITED', exitCode: 7 };

it.each<[Refusal, Cause]>([
  [{ code: 'SERVER_UNAVAILABLE', server: 's', cause: EXITED, httpStatus: 500 }, EXITED],
  [{ code: 'SERVER_ENDED', server: 's', cause: EXITED }, EXITED],
  [{ code: 'SERVER_UNREACHED', server: 's', cause: EXITED }, EXITED],
  [{ code: 'SESSION_RENEWED', server: 's', cause: EXITED }, EXITED],
  [{ code: 'SERVER_BUSY', server: 's', cause: EXITED }, EXITED],
  [
    { code: 'SERVER_TIMEOUT', server: 's', limitMs: 5 },
    { code: 'RESPONSE_TIMEOUT', limitMs: 5 },
  ],
  [
    { code: 'SERVER_MESSAGE_INVALID', server: 's', reason: 'two ids' },
    { code: 'RESPONSE_AMBIGUOUS', reason: 'two ids' },
  ],
  [
    { code: 'AUTHORIZATION_NEEDED', server: 's', subject: 'ann', cause: { code: 'TOKEN_EXPIRED' } },
    { code: 'SIGN_IN_NEEDED', server: 's', subject: 'ann', cause: { code: 'TOKEN_EXPIRED' } },
  ],
])('the refusal of a server becomes its cause: %j', (refusal, cause) => {
  expect(toCause(refusal)).toEqual(cause);
});

it('any other refusal becomes a cause with its code and sentence', () => {
  const cause = toCause({ code: 'STORE_UNAVAILABLE', reason: 'the disk is full' });
  expect(cause).toMatchObject({ code: 'REQUEST_REFUSED', error: 'STORE_UNAVAILABLE' });
  expect(formatCause(cause)).toContain('the disk is full');
});
