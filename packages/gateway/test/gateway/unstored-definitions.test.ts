import { expect, it } from 'vitest';
import { DriftDetector } from '../../src/gateway/catalog/drift-detector.ts';
import { UnstoredDefinitions, isUnstored } from '../../src/gateway/catalog/unstored-definitions.ts';
import { getDigest } from '../../src/gateway/catalog/definition-facts.ts';
import { ToolClaims, findToolId } from '../../src/gateway/catalog/tool-claims.ts';
import { replicaOf } from '../../../../test/support/memory-records.ts';
import { endAfterEach } from '../../../../test/support/end-after-each.ts';
import { endLater, until } from '../../../../test/support/endings.ts';
import { tempDir } from '../../../../test/support/paths.ts';
import { valueOf } from '../../../../test/support/store-values.ts';
import { openAt } from '../../../../test/support/stores.ts';
import { SILENT } from './listed-server.ts';
import type { Definition } from '../../src/gateway/ports/link.ts';
import type { ServerSpec } from '../../src/core/server-spec.ts';

endAfterEach();

const SPEC = {
  name: 's',
  transport: { kind: 'stdio', command: 'server', args: [], env: {} },
} as unknown as ServerSpec;

function tool(key: string, description = ''): Definition {
  const whole = { kind: 'whole' } as const;
  const bytes = Buffer.from(JSON.stringify({ name: key, description, inputSchema: { type: 'object' } }));
  return { key, bytes, fitness: { legacy: whole, modern: whole } };
}

it('changed definitions beyond the bounds of their server are withheld, and the accepted ones stay', async () => {
  const store = await openAt({ home: tempDir(), databaseUrl: undefined });
  const records = replicaOf(store);
  const unstored = new UnstoredDefinitions();
  // 20,000 bytes per minute.
  const limits = { listEntries: 100, listBytes: 40_000 };
  let nowMs = 1_000_000;
  const options = { records, unstored, limits, log: SILENT, prose: 'flag', nowMs: () => nowMs } as const;
  const drift = new DriftDetector(options);
  endLater(() => drift.close());
  const claims = new ToolClaims(records, 'flag', unstored);
  const isMissing = (definition: Definition): boolean =>
    isUnstored(claims.withheldIfUnstored(SPEC, definition));
  const isDrifted = (definition: Definition): boolean => claims.driftOf(SPEC, definition) !== undefined;
  const keys = ['a', 'b', 'c', 'd'];
  const first = keys.map((key) => tool(key));
  drift.saw(SPEC, first, SPEC);
  await drift.settled(SPEC);
  // More than 16,000 bytes in all.
  const changed = keys.map((key) => tool(key, 'x'.repeat(10_000)));
  drift.saw(SPEC, changed, SPEC);
  await until('the first changes are stored', () => (changed.every(isDrifted) ? true : undefined), 20_000);
  expect(changed.some(isMissing)).toBe(false);
  const again = keys.map((key) => tool(key, 'y'.repeat(10_000)));
  drift.saw(SPEC, again, SPEC);
  await until('further ones are withheld', () => (again.every(isMissing) ? true : undefined), 20_000);
  expect(again.some(isDrifted)).toBe(false);
  for (const one of first)
    expect(valueOf(await store.accepted(findToolId(SPEC, one)!))?.digest).toBe(getDigest(one));
  expect(first.some(isMissing)).toBe(false);
  // They are retried, and fit a minute later.
  nowMs += 61_000;
  await until('all are stored', () => (again.every(isDrifted) ? true : undefined), 30_000);
  await until('none is withheld', () => (again.some(isMissing) ? undefined : true), 20_000);
}, 90_000);

it('definitions of a server beyond its bounds are withheld, and those accepted before stay in effect', async () => {
  const place = { home: tempDir(), databaseUrl: undefined };
  const records = replicaOf(await openAt(place));
  const unstored = new UnstoredDefinitions();
  const limits = { listEntries: 2, listBytes: 10_000 };
  const drift = new DriftDetector({
    records,
    unstored,
    limits,
    log: SILENT,
    prose: 'flag',
    nowMs: () => Date.now(),
  });
  endLater(() => drift.close());
  const claims = new ToolClaims(records, 'flag', unstored);
  const isMissing = (definition: Definition): boolean =>
    isUnstored(claims.withheldIfUnstored(SPEC, definition));
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((key) => tool(key));
  drift.saw(SPEC, [a!, b!, c!, d!], SPEC);
  await drift.settled(SPEC);
  expect([a!, b!, c!, d!].map(isMissing)).toEqual([false, false, true, true]);
  // A new name is withheld at once, and a flood changes nothing about what was accepted.
  expect(isMissing(tool('e'))).toBe(true);
  const changed = tool('a', 'changed');
  expect(isMissing(changed)).toBe(true);
  drift.saw(SPEC, [changed, b!, tool('f')], SPEC);
  await until('the change is stored and shown', () => (isMissing(changed) ? undefined : true), 20_000);
  expect(claims.driftOf(SPEC, changed)?.flags).toEqual([{ code: 'description' }]);
  expect(isMissing(tool('f'))).toBe(true);
  // Without new names, nothing is withheld.
  drift.saw(SPEC, [changed, b!], SPEC);
  await until('all is stored', () => (isMissing(tool('g')) ? undefined : true), 20_000);
}, 60_000);
