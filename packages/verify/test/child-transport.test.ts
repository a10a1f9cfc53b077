import { expect, it } from 'vitest';
import type { Child } from '@assay-mcp/kit/platform/child';
import { ChildTransport } from '../src/experiment/child-transport.ts';

it('a tool that clients reject is left out of the list with the reason, and the others stay', async () => {
  const sound = { name: 'sound', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } };
  const tools = [
    { name: 'filesystem_0_6_2', inputSchema: { properties: {} } },
    sound,
    { name: 'none' },
    { name: 'listed', inputSchema: { type: 'array' } },
    { name: 'output', inputSchema: { type: 'object' }, outputSchema: {} },
    { name: 'title', title: 7, inputSchema: { type: 'object' } },
    { name: 'hint', inputSchema: { type: 'object' }, annotations: { readOnlyHint: 'maybe' } },
    { inputSchema: { type: 'object' } },
    null,
  ];
  const line = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools, nextCursor: 'n' } });
  const child: Child = {
    onOutput: (take: (chunk: Buffer) => void) => take(Buffer.from(`${line}\n`)),
    onErrorOutput: () => undefined,
    ended: new Promise(() => undefined),
    write: () => true,
    end: () => Promise.resolve(),
  } as unknown as Child;
  const transport = new ChildTransport(child);
  const received: unknown[] = [];
  transport.onmessage = (message) => received.push(message);
  await transport.start();
  expect(received).toEqual([{ jsonrpc: '2.0', id: 1, result: { tools: [sound], nextCursor: 'n' } }]);
  expect([...transport.withheld]).toEqual([
    ['filesystem_0_6_2', 'its inputSchema has no "type": "object"'],
    ['none', 'its inputSchema is absent'],
    ['listed', 'the type of its inputSchema is not "object"'],
    ['output', 'its outputSchema has no "type": "object"'],
    ['title', 'its title is not a string'],
    ['hint', 'its readOnlyHint is neither true nor false'],
    ['tool 8', 'its name is not a string'],
    ['tool 9', 'it is not an object'],
  ]);
  expect([...transport.digests.keys()]).toContain('filesystem_0_6_2');
});
