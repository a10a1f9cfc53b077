import { expect, it } from 'vitest';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { OpenRequests } from '../../src/edges/mcp/in-flight.ts';

it('a request that its client cancels does not count as abandoned by a shutdown, whatever the reason', async () => {
  const requests = new OpenRequests();
  const abandoned = new Cancellation();
  const cancelled = new Cancellation();
  const places = [abandoned, cancelled].map((cancellation) => requests.begin(cancellation));
  let reason: string | undefined;
  abandoned.addListener(() => {
    ({ reason } = abandoned);
    cancelled.cancel(reason);
    places.forEach((place) => requests.end(place));
  });
  await requests.drain(0);
  expect(reason).toBe('Assay is shutting down');
  expect([abandoned, cancelled].map((one) => requests.isGivenUp(one))).toEqual([true, false]);
});
