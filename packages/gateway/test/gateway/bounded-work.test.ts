import { expect, it } from 'vitest';
import { readBundle } from '../../src/core/bundle/read-bundle.ts';
import { ok } from '@assay-mcp/kit/result';
import { logChanges } from '../../src/gateway/catalog/drift-change.ts';
import { createOwnTool } from '../../src/gateway/services/configuration-tools/own-tool.ts';
import type { Log } from '../../src/gateway/ports/log.ts';
import { buildOwnRequest } from '@assay-mcp/protocol/message';

const quiet = (): undefined => undefined;
const QUIET: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

it('a bundle of more items than are read is refused before they are read', () => {
  const items = (count: number): unknown[] => Array.from({ length: count }, () => ({}));
  for (const bundle of [
    { assay: 1, records: items(1_000_000) },
    { assay: 1, records: [{ kind: 'toolset', version: 1, body: { name: 'a', tools: items(30_000) } }] },
    { assay: 1, records: [{ kind: 'trust', version: 1, body: { tools: [items(9_000), items(15_000)] } }] },
  ]) {
    const read = readBundle(bundle, 0);
    expect(read.ok ? [] : read.error).toEqual([
      expect.objectContaining({
        reason: expect.stringMatching(/its lists have more than 20000 items/) as string,
      }),
    ]);
  }
});

it('arguments of a configuration tool above 1 MiB are refused before they are parsed', async () => {
  const tool = createOwnTool(
    {
      name: 'search_tools',
      title: 'Search tools',
      description: 'Finds tools.',
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      inputSchema: { type: 'object' },
      run: () => Promise.resolve(ok({ text: 'ran' })),
    },
    { compile: () => () => expect.unreachable('checked') },
  );
  const call = (query: string): Promise<Buffer> =>
    Promise.resolve(
      tool.call({
        message: buildOwnRequest('tools/call', { name: 'search_tools', arguments: { query } }),
        era: 'modern',
        subject: 'a',
      }),
    );
  expect(String(await call('x'.repeat(15_000_000)))).toContain('larger than 1048576 bytes');
});

it('changes of many tools are one line in the log, with their number and the names of the first', () => {
  const lines: unknown[] = [];
  const log: Log = { ...QUIET, warn: (message, fields) => void lines.push([message, fields]) };
  const changes = (count: number): { tool: string; message: string }[] =>
    Array.from({ length: count }, (_, at) => ({ tool: `tool_${at}`, message: `tool ${at} changed` }));
  logChanges(log, 's', changes(20));
  expect(lines).toHaveLength(20);
  lines.length = 0;
  logChanges(log, 's', changes(6_500));
  const first = ['tool_0', 'tool_1', 'tool_2', 'tool_3', 'tool_4'];
  expect(lines).toEqual([[expect.stringContaining('many tools'), { server: 's', tools: 6_500, first }]]);
});
