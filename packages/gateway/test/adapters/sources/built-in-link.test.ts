import { expect, it } from 'vitest';
import { BuiltInLink } from '../../../src/adapters/sources/built-in-link.ts';
import type { BuiltInTool } from '../../../src/adapters/sources/built-in-tool.ts';
import { buildOwnUpstreamRequest } from '../../../src/gateway/ports/link.ts';
import type { Log } from '../../../src/gateway/ports/log.ts';
import { buildOwnRequest } from '@assay-mcp/protocol/message';
import { longestTurn } from '../../../../../test/support/turns.ts';
import { SILENT } from '../../gateway/listed-server.ts';

const EVENTS = { changed() {}, drained() {} } as unknown as ConstructorParameters<
  typeof BuiltInLink
>[0]['events'];

function linkOf(tools: readonly BuiltInTool[], skipped: number, log: Log = SILENT): BuiltInLink {
  const first = {
    tools,
    skipped: Array.from({ length: skipped }, (_, at) => ({ what: `GET /${at}`, why: 'it is odd' })),
  };
  return new BuiltInLink({
    ...{ server: 's', first, log, events: EVENTS },
    source: {
      read: () => expect.unreachable(),
      onChange: () => () => undefined,
      close: () => Promise.resolve(),
    },
    mask: (text) => text,
  });
}

it('the first skipped tools of a source are logged one by one, the others as a number', () => {
  const lines: unknown[] = [];
  const log: Log = { ...SILENT, warn: (message, fields) => void lines.push([message, fields]) };
  linkOf([], 20, log);
  expect(lines).toHaveLength(20);
  lines.length = 0;
  linkOf([], 50_000, log);
  expect(lines).toHaveLength(21);
  expect(lines.at(-1)).toEqual([
    'more tools of a source cannot be used',
    { server: 's', code: 'TOOL_UNUSABLE', tools: 49_980 },
  ]);
});

it('a list of many tools is written and read in turns', async () => {
  const parameters = Array.from({ length: 30 }, (_, at) => [`p${at}`, { type: 'string', description: 'x' }]);
  const tools = Array.from({ length: 10_000 }, (_, at): BuiltInTool => {
    const inputSchema = { type: 'object' as const, properties: Object.fromEntries(parameters) as object };
    return {
      definition: { name: `t${at}`, inputSchema },
      facts: { kind: 'rest' },
      run: () => expect.unreachable(),
    };
  });
  let bytes = 0;
  const { cpuMs } = await longestTurn(async () => {
    const reply = await linkOf(tools, 0).send(
      buildOwnUpstreamRequest(buildOwnRequest('tools/list', {}), 60_000),
    );
    if (reply.ok) bytes = reply.value.message.bytes.length;
  });
  expect([bytes > 12_000_000, cpuMs < 250 ? 'short' : cpuMs]).toEqual([true, 'short']);
});
