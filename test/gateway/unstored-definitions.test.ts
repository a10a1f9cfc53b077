import { expect, it } from 'vitest';
import { DriftDetector } from '../../src/gateway/catalog/drift-detector.ts';
import { UnstoredDefinitions, isUnstored } from '../../src/gateway/catalog/unstored-definitions.ts';
import { ToolClaims } from '../../src/gateway/catalog/tool-claims.ts';
import { replicaOf } from '../support/memory-records.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { endLater, until } from '../support/endings.ts';
import { tempDir } from '../support/paths.ts';
import { openAt } from '../support/stores.ts';
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

it('definitions of a server beyond its bounds are withheld, and those accepted before stay in effect', async () => {
  const place = { home: tempDir(), databaseUrl: undefined };
  const records = replicaOf(await openAt(place));
  const unstored = new UnstoredDefinitions();
  const limits = { 'limits.listEntries': 2, 'limits.listBytes': 10_000 };
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
