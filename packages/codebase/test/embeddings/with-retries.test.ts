import { expect, test } from 'vitest';
import type { EmbeddingFault } from '../../src/embeddings/embedding-provider.ts';
import { withRetries } from '../../src/embeddings/with-retries.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { handClock } from './embedding-service.ts';

const status = (code: number, retryAfterMs?: number): EmbeddingFault => ({
  code: 'STATUS',
  status: code,
  text: '',
  retryAfterMs,
});
const closed: EmbeddingFault = { code: 'UNREACHABLE', fault: { code: 'CONNECTION_CLOSED' } };
const timedOut: EmbeddingFault = { code: 'TIMED_OUT', limitMs: 1 };

async function run(
  faults: readonly EmbeddingFault[],
): Promise<{ result: unknown; attempts: number; waits: number[] }> {
  const clock = handClock();
  let attempts = 0;
  const attempt = async () => {
    const fault = faults[attempts++];
    return fault === undefined ? ok('vectors') : err(fault);
  };
  return { result: await withRetries(attempt, clock, undefined), attempts, waits: clock.waits };
}

test.each([429, 500, 502, 503, 504])('status %i is retried', async (code) => {
  expect(await run([status(code)])).toEqual({ result: ok('vectors'), attempts: 2, waits: [500] });
});

test('lost connections and timeouts are retried with exponential backoff', async () => {
  expect(await run([closed, timedOut, closed])).toEqual({
    result: ok('vectors'),
    attempts: 4,
    waits: [500, 1_000, 2_000],
  });
});

test.each<EmbeddingFault>([
  status(400),
  status(401),
  status(404),
  { code: 'UNREACHABLE', fault: { code: 'CONNECTION_REFUSED' } },
  { code: 'ANSWER_INVALID', problem: 'answered with a vector of zeros' },
  { code: 'CANCELLED' },
])('%j is not retried', async (fault) => {
  expect(await run([fault])).toEqual({ result: err(fault), attempts: 1, waits: [] });
});

test('the fifth failure is final', async () => {
  const faults = Array.from({ length: 9 }, () => status(500));
  expect(await run(faults)).toEqual({
    result: err(status(500)),
    attempts: 5,
    waits: [500, 1_000, 2_000, 4_000],
  });
});

test('the wait that the service asks for is honored, unless the total wait gets too long', async () => {
  expect(await run([status(429, 30_000)])).toMatchObject({ result: ok('vectors'), waits: [30_000] });
  expect(await run([status(429, 60_000), status(429, 40_000)])).toMatchObject({
    result: err(status(429, 40_000)),
    waits: [60_000],
  });
});

test('no attempt follows a cancelled wait', async () => {
  const controller = new AbortController();
  const clock = { ...handClock(), wait: async () => controller.abort() };
  const result = await withRetries(async () => err(status(500)), clock, controller.signal);
  expect(result).toEqual(err({ code: 'CANCELLED' }));
});
