import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { rounds } from '../support/campaign.ts';
import {
  exportOf,
  makeEverything,
  openInstance,
  PASSPHRASE,
  sealedExportOf,
  type Instance,
} from '../support/bundles.ts';
import type { JsonObject } from '../support/json.ts';

let full: Instance;
let bundle: JsonObject;
beforeAll(async () => {
  full = await openInstance();
  await makeEverything(full);
  bundle = await sealedExportOf(full);
});

/** A copy in which one value, in traversal order, is replaced or missing. */
function damagedAt(place: number, value: unknown): unknown {
  const copy = structuredClone(bundle);
  const holders: (readonly [Record<string, unknown>, string])[] = [];
  const walk = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return;
    for (const [key, member] of Object.entries(one)) {
      holders.push([one as Record<string, unknown>, key]);
      walk(member);
    }
  };
  walk(copy);
  const [holder, key] = holders[place % holders.length] ?? [{}, ''];
  if (value === undefined) Reflect.deleteProperty(holder, key);
  else holder[key] = value;
  return copy;
}

const value = fc.oneof(
  fc.constant(undefined),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    '\u0000',
    '\ud800',
    '__proto__',
    -1,
    2 ** 53,
    'x'.repeat(100_000),
    '../..',
    'http://127.0.0.1:9/',
  ),
);

it('a damaged export is planned or refused, never an internal error, and a plan changes nothing', async () => {
  const before = await exportOf(full);
  await fc.assert(
    fc.asyncProperty(fc.nat(), value, fc.boolean(), async (place, given, isOpen) => {
      const input = { bundle: damagedAt(place, given), ...(isOpen && { passphrase: PASSPHRASE }) };
      const answer = await full.admin.post('/import', input);
      expect([200, 422]).toContain(answer.status);
    }),
    { numRuns: rounds({ short: 25, long: 300 }) },
  );
  expect(await exportOf(full)).toEqual(before);
});

it('a refused damaged export has changed nothing, and an accepted one is imported completely', async () => {
  const target = await openInstance();
  await fc.assert(
    fc.asyncProperty(fc.nat(), value, async (place, given) => {
      const before = await exportOf(target);
      const input = { bundle: damagedAt(place, given), apply: true };
      const answer = await target.admin.post('/import', input);
      expect([200, 422]).toContain(answer.status);
      if (answer.status !== 200) expect(await exportOf(target)).toEqual(before);
      else {
        const again = await target.admin.post('/import', input);
        expect([again.status, again.text.includes('"create":0,"update":0')]).toEqual([200, true]);
      }
    }),
    { numRuns: rounds({ short: 12, long: 120 }) },
  );
});
