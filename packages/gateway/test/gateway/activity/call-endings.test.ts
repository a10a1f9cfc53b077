import { describe, expect, it } from 'vitest';
import type { FinishedCall } from '../../../src/core/activity/call-entry.ts';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { type Decision, NO_POLICY, type Policy } from '../../../src/core/policy/policy.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Refusal } from '../../../src/core/refusal.ts';
import { getDigest } from '../../../src/gateway/catalog/definition-facts.ts';
import type { ConfigurationTool } from '../../../src/gateway/catalog/visible-listing.ts';
import { View } from '../../../src/gateway/catalog/view.ts';
import type { Connect, Reply } from '../../../src/gateway/ports/link.ts';
import { Call } from '../../../src/gateway/relay/call.ts';
import { createRelay } from '../../../src/gateway/relay/pipeline.ts';
import { buildOwnRequest, readServerMessage } from '@assay-mcp/protocol/message';
import { definition, inventoryOf, listed, NOTHING_ASKS, standing, tool } from '../listed-server.ts';

const ALLOW: Decision = { kind: 'allow', reasons: [{ code: 'own_tool' }] };
const ASK: Decision = { kind: 'ask', per: 'call', reasons: [{ code: 'destructive', origin: 'default' }] };
const REFUSE: Decision = { kind: 'refuse', reasons: [{ code: 'unannotated' }] };

const READ = definition('tools', tool('read', { annotations: { readOnlyHint: true } }));

function own(result: object): ConfigurationTool {
  const key = 'list-saved-toolsets';
  return {
    key,
    name: key,
    definition: definition('tools', tool(key)),
    call: () => Promise.resolve(Buffer.from(JSON.stringify(result))),
  };
}

interface Given {
  readonly policy?: Partial<Policy>;
  /** The server's response, as JSON members, or the refusal if there is none. */
  readonly reply?: string | Refusal;
  readonly own?: ConfigurationTool;
  readonly isCancelled?: boolean;
  readonly log?: 'none' | 'full';
}

function replied(members: string): Result<Reply, Refusal> {
  const message = readServerMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,${members}}`));
  if (message.kind !== 'response') throw new Error(`no response: ${members}`);
  return ok({ era: members.includes('input_required') ? 'modern' : 'legacy', message });
}

/** Makes a call, and returns what was recorded. */
async function recorded(name: string, given: Given = {}): Promise<readonly FinishedCall[]> {
  const { reply = '"result":{"content":[]}' } = given;
  const calls: FinishedCall[] = [];
  const connect: Connect = async (spec, opening) => {
    const link = await standing({ tools: {} })(spec, opening);
    if (!link.ok) return link;
    const inner = link.value;
    return ok({
      ...inner,
      send: (request) => {
        if (request.message.method !== 'tools/call') return inner.send(request);
        return Promise.resolve(typeof reply === 'string' ? replied(reply) : err(reply));
      },
    });
  };
  const server = listed('s', { tools: [READ] }, { connect });
  server.start();
  await server.settled();
  server.lists.inventory = { ...server.lists.inventory, ...inventoryOf({ tools: [READ] }) };
  const policy = { ...NO_POLICY, decide: () => ALLOW, ...given.policy };
  const options = {
    endpoint: 'all',
    servers: () => [server],
    isAggregated: true,
    settled: () => Promise.resolve(),
  };
  const relay = createRelay({
    ...NOTHING_ASKS,
    policy: { current: policy },
    callLog: { arguments: given.log ?? ('none' as const), add: (call: FinishedCall) => calls.push(call) },
    telemetry: { meter: undefined, tracer: undefined, mask: (text: string) => text },
  });
  const plain = new View(options);
  const view = new View({
    ...options,
    filter: {
      candidates: () => [server],
      listing: (kind) => plain.listing(kind),
      configurationTool: (key) => (key === given.own?.key ? given.own : undefined),
      absence: () => undefined,
    },
  });
  const cancellation = new Cancellation();
  if (given.isCancelled === true) cancellation.cancel();
  const era = typeof reply === 'string' && reply.includes('input_required') ? 'modern' : 'legacy';
  await relay
    .answer(
      new Call({
        caller: { era, relay, view, clientInfo: '{"name":"probe"}', logLevel: undefined },
        identity: { subject: 'ci', scopes: ['mcp'] },
        message: buildOwnRequest('tools/call', { name, arguments: { path: 'secret' } }),
        cancellation,
        client: { notify: () => undefined, ask: undefined },
        logLevel: undefined,
      }),
    )
    .catch(() => undefined);
  return calls;
}

const DOWN: Refusal = {
  code: 'SERVER_UNAVAILABLE',
  server: 's',
  cause: { code: 'PROCESS_NOT_STARTED', error: 'x' },
};

describe('a call is recorded once, whatever its outcome:', () => {
  it.each<[string, string, Given, string, Decision | undefined]>([
    ['allowed', 's_read', {}, 'ok', ALLOW],
    ['refused by a rule', 's_read', { policy: { decide: () => REFUSE } }, 'CALL_REFUSED', REFUSE],
    ['approval left to the client', 's_read', { policy: { decide: () => ASK } }, 'ok', ASK],
    [
      'approval required by Assay',
      's_read',
      { policy: { decide: () => ASK, approvals: 'gateway' } },
      'APPROVAL_REQUIRED',
      ASK,
    ],
    ['a tool that reports an error', 's_read', { reply: '"result":{"isError":true}' }, 'tool_error', ALLOW],
    ['a server error', 's_read', { reply: '"error":{"code":-32603,"message":"x"}' }, 'error', ALLOW],
    [
      'a server request for input',
      's_read',
      { reply: '"result":{"resultType":"input_required","inputRequests":{}}' },
      'input_required',
      ALLOW,
    ],
    ['a server that is down', 's_read', { reply: DOWN }, 'SERVER_UNAVAILABLE', ALLOW],
    ['cancelled', 's_read', { isCancelled: true }, 'CANCELLED', ALLOW],
    ['an unknown tool', 's_gone', {}, 'TOOL_UNKNOWN', undefined],
    ['an Assay tool', 'list-saved-toolsets', { own: own({ content: [] }) }, 'ok', ALLOW],
    [
      'an Assay tool that reports an error',
      'list-saved-toolsets',
      { own: own({ content: [], isError: true }) },
      'tool_error',
      ALLOW,
    ],
    [
      'a bug in an Assay tool',
      'list-saved-toolsets',
      { own: { ...own({}), call: () => Promise.reject(new Error('a bug')) } },
      'INTERNAL',
      ALLOW,
    ],
  ])('%s', async (_, name, given, outcome, decision) => {
    expect(await recorded(name, given)).toEqual([
      expect.objectContaining({ subject: 'ci', endpoint: 'all', publicName: name, outcome, decision }),
    ]);
  });
});

describe('the record of a call', () => {
  it('contains the client, the tool and its digest, but no arguments', async () => {
    const [call] = await recorded('s_read');
    expect(call).toMatchObject({
      client: '{"name":"probe"}',
      toolId: expect.stringMatching(/^tool_/) as string,
      tool: { server: 's', name: 'read', digest: getDigest(READ) },
      argumentsText: undefined,
    });
    expect(call?.durationMs).toBeGreaterThanOrEqual(0);
    expect(JSON.stringify(call)).not.toContain('secret');
  });

  it('contains the arguments as sent, if so configured', async () => {
    const [call] = await recorded('s_read', { log: 'full' });
    expect(call).toMatchObject({ argumentsText: '{"path":"secret"}', argumentsBytes: 17 });
  });
});
