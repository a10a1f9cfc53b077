import { expect, it } from 'vitest';
import { getDefaultSettings } from '../../src/core/resolve-settings.ts';
import type { ToolRecord } from '../../src/core/hints/tool-record.ts';
import { Catalog } from '../../src/gateway/catalog/catalog.ts';
import { getDigest } from '../../src/gateway/catalog/definition-facts.ts';
import { EMPTY_INVENTORY } from '../../src/gateway/catalog/inventory.ts';
import { getServerIds, ToolClaims } from '../../src/gateway/catalog/tool-claims.ts';
import { countReviews } from '../../src/gateway/services/tools/review-counts.ts';
import { until } from '../../../../test/support/endings.ts';
import { MemoryRecords, replicaOf } from '../../../../test/support/memory-records.ts';
import { inventoryOf, SILENT, tool } from './listed-server.ts';

it('tools that wait for a review are counted once for each change, not for each request', async () => {
  const store = new MemoryRecords();
  const records = replicaOf(store);
  await records.ready();
  const transport = { kind: 'stdio', command: 'none', args: [], env: {}, cwd: '/' } as const;
  const spec = { name: 's', transport, timeoutMs: 1_000, prefix: true, isolation: 'shared' } as const;
  const catalog = new Catalog(
    { servers: [spec], rejected: [] },
    {
      connect: () => new Promise(() => {}),
      memory: { recall: () => undefined, remember() {}, recallAbsence: () => false, rememberAbsence() {} },
      log: SILENT,
      limits: getDefaultSettings(),
      chance: () => 0,
      claims: new ToolClaims(records),
    },
  );
  const server = catalog.servers[0]!;
  const tools = inventoryOf({ tools: [tool('a'), tool('b')] }).tools!;
  server.lists.inventory = { ...EMPTY_INVENTORY, tools };
  expect(countReviews(catalog)).toBeUndefined();
  const change = (at: number, isChanged: boolean): void => {
    const definition = tools[at]!;
    const drift = {
      ...{ digest: getDigest(definition), sinceMs: 1, changes: [] },
      risks: [{ code: 'input_schema' } as const],
    };
    const id = `tool_${definition.key}`;
    const names = { server: 's', identity: getServerIds(server.spec).identity, name: definition.key! };
    const body: ToolRecord = { id, ...names, overrides: {}, ...(isChanged && { drift }) };
    store.keep({ kind: 'tool', id, body });
    store.announce();
  };
  const countIs = (tools: number | undefined): Promise<true> =>
    until('the change is counted', () => (countReviews(catalog)?.tools === tools ? true : undefined));
  change(0, true);
  await countIs(1);
  const counts = countReviews(catalog);
  expect(counts).toEqual({ tools: 1, dangerous: 1, suspended: 0 });
  expect(countReviews(catalog)).toBe(counts);
  change(1, true);
  await countIs(2);
  change(0, false);
  change(1, false);
  await countIs(undefined);
  await catalog.stop();
});
