import { expect, it } from 'vitest';
import { Cancellation } from '../../src/core/cancellation.ts';
import { OpenRequests } from '../../src/edges/mcp/in-flight.ts';

it('a request cancelled by its client does not count as abandoned by a shutdown, whatever reason the client gave', async () => {
  const underWay = new OpenRequests();
  const given = new Cancellation();
  const cancelled = new Cancellation();
  const places = [given, cancelled].map((cancellation) => underWay.begin(cancellation));
  let reason: string | undefined;
  given.addListener(() => {
    ({ reason } = given);
    cancelled.cancel(reason);
    places.forEach((place) => underWay.end(place));
  });
  await underWay.drain(0);
  expect(reason).toBe('Assay is shutting down');
  expect([given, cancelled].map((one) => underWay.isGivenUp(one))).toEqual([true, false]);
});
