import { expect, it } from 'vitest';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { ok } from '@assay-mcp/kit/result';
import { readClientMessage } from '@assay-mcp/protocol/message';
import { compileSchema } from '../../src/adapters/sources/schema-check.ts';
import { createOwnTool } from '../../src/gateway/services/configuration-tools/own-tool.ts';
import { at, parseJson } from '../../../../test/support/json.ts';

const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    query: { type: 'string' },
    limit: { type: 'integer', minimum: 1, maximum: 50 },
    notes: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' }, line: { type: 'integer' } } },
    },
    arguments: { type: 'object' },
  },
};

/** The arguments that a tool of this schema gets, or why it refuses them. `args`: JSON text. */
async function received(args: string, schema = SCHEMA): Promise<unknown> {
  let got: unknown;
  const tool = createOwnTool(
    {
      name: 'own',
      title: 'Own',
      description: 'Runs.',
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      inputSchema: schema,
      run: (given) => {
        got = given;
        return Promise.resolve(ok({ text: 'ran' }));
      },
    },
    { compile: compileSchema },
  );
  const message = readClientMessage(
    Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"own","arguments":${args}}}`),
  );
  if (message.kind !== 'request') throw new Error('no request');
  const result = parseJson(String(await tool.call({ message, era: 'legacy', subject: 'a' })));
  return got ?? at(result, 'content', 0, 'text');
}

it.each([
  ['null', {}],
  ['{"limit":"10","query":"10"}', { limit: 10, query: '10' }],
  ['{"limit":null,"query":"a"}', { query: 'a' }],
  ['{"notes":[{"name":"7","line":"7"}]}', { notes: [{ name: '7', line: 7 }] }],
  ['{"arguments":{"limit":"1","x":null}}', { arguments: { limit: '1', x: null } }],
])('a tool of ours understands %s', async (args, expected) => {
  expect(await received(args)).toEqual(expected);
});

it.each([
  ['{"args":{}}', /arguments\.args.*there is no such member; did you mean "arguments"\?/],
  ['{"qurey":"a"}', /arguments\.qurey.*did you mean "query"\?/],
  ['{"colour":1}', /arguments\.colour.*known are query, limit, notes, arguments/],
  ['{"__proto__":1}', /arguments\.__proto__.*no such member/],
  ['{"notes":[{"name":"a"},{"nmae":"b"}]}', /arguments\.notes\.1\.nmae.*did you mean "name"\?/],
  ['{"limit":"51"}', /arguments\.limit.*<= 50/],
  ['{"limit":"1.0"}', /arguments\.limit.*integer/],
  ['{"limit":"9007199254740993"}', /arguments\.limit.*integer/],
  ['"a"', /arguments.*object/],
])('a tool of ours refuses %s', async (args, reason) => {
  expect(await received(args)).toMatch(reason);
});

it('a required member may not be null, and a long name is shortened', async () => {
  const schema = { ...SCHEMA, required: ['query'] };
  expect(await received('{"query":null}', schema)).toMatch(/arguments\.query.*string/);
  expect(String(await received(`{"${'x'.repeat(500_000)}":1}`)).length).toBeLessThan(5_000);
});
