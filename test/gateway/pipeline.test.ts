import { describe, expect, it } from 'vitest';
import { Cancellation } from '../../src/core/cancellation.ts';
import type { Policy, PolicyInput } from '../../src/core/policy.ts';
import { LOCAL_USER, type Identity } from '../../src/core/subject.ts';
import { answerOwn } from '../../src/gateway/relay/own-call.ts';
import { type Answer, Call } from '../../src/gateway/relay/call.ts';
import { answer } from '../../src/gateway/relay/pipeline.ts';
import { digestOf } from '../../src/gateway/catalog/definition-facts.ts';
import type { ConfigurationTool } from '../../src/gateway/catalog/configuration-tool.ts';
import { View } from '../../src/gateway/catalog/view.ts';
import type { Connect } from '../../src/gateway/ports/link.ts';
import type { Meter } from '../../src/gateway/ports/telemetry.ts';
import { ownRequest } from '../../src/protocol/message.ts';
import { definition, inventoryOf, listed, NOTHING_ASKS, standing, tool } from './listed-server.ts';

const READER: Identity = { subject: 'reader', scopes: ['mcp'], tokenId: 't1' };

const OWN: ConfigurationTool = {
  key: 'enter-configuration-mode',
  name: 'enter-configuration-mode',
  definition: definition(
    'tools',
    tool('enter-configuration-mode', { annotations: { readOnlyHint: false, destructiveHint: false } }),
  ),
  call: () => Promise.resolve(Buffer.from('{"content":[]}')),
};

const FAILING: ConfigurationTool = {
  ...OWN,
  key: 'build-toolset',
  call: () => Promise.reject(new Error('a bug')),
};

/** Stands for the tool "read" of the server. */
function forwardingTo(view: () => View): ConfigurationTool {
  return {
    ...OWN,
    key: 'call_tool',
    forward: (message) => {
      const entry = view().listing('tools').entries[0];
      return Promise.resolve(entry && { entry, message });
    },
  };
}

interface Opened {
  readonly view: View;
  /** The methods that reached the server, beside those of its handshake. */
  readonly sent: readonly string[];
  /** `server method ending` of each call that was recorded. */
  readonly recorded: readonly string[];
}

async function open(policy: Policy): Promise<Opened> {
  const sent: string[] = [];
  const recorded: string[] = [];
  const tools = [tool('read', { annotations: { readOnlyHint: true } })];
  const connect: Connect = async (spec, opening) => {
    const link = await standing({ tools: {} })(spec, opening);
    if (!link.ok) return link;
    const inner = link.value;
    return {
      ok: true,
      value: {
        ...inner,
        send(request) {
          if (request.message.method === 'tools/call') sent.push(request.message.method);
          return inner.send(request);
        },
      },
    };
  };
  const server = listed('s', { tools }, { connect });
  server.start();
  await server.settled();
  server.lists.inventory = { ...server.lists.inventory, ...inventoryOf({ tools }) };
  const meter: Pick<Meter, 'of'> = {
    of: (name, method) => ({
      begin: () => 0,
      end: (ending) => recorded.push(`${name} ${method} ${ending}`),
    }),
  };
  const view: View = new View({
    endpoint: 'all',
    calls: { ...NOTHING_ASKS, policy },
    servers: () => [server],
    isAggregated: true,
    settled: () => Promise.resolve(),
    telemetry: {
      meter: { ...meter, expose: () => expect.unreachable() },
      tracer: undefined,
      mask: (text) => text.replaceAll('hunter2', '***'),
    },
    filter: {
      candidates: () => [server],
      listing: (kind) => plain.listing(kind),
      configurationTool: (name) => [OWN, FAILING, forwardingTo(() => plain)].find(({ key }) => key === name),
      absence: (name) =>
        name === 'down'
          ? {
              code: 'SERVER_UNAVAILABLE',
              server: 's',
              cause: { code: 'PROCESS_NOT_STARTED', error: 'hunter2' },
            }
          : undefined,
    },
  });
  const plain = new View({
    endpoint: 'all',
    calls: NOTHING_ASKS,
    servers: () => [server],
    isAggregated: true,
    settled: () => Promise.resolve(),
  });
  return { view, sent, recorded };
}

function callTool(view: View, name: string): Promise<Answer> {
  return answer(
    new Call({
      caller: { era: 'legacy', view, clientInfo: undefined, logLevel: undefined },
      identity: READER,
      message: ownRequest('tools/call', { name, arguments: { path: 'a' } }),
      cancellation: new Cancellation(),
      client: { notify: () => undefined, ask: undefined },
      logLevel: undefined,
    }),
  );
}

function seen({ identity, method, tool: about, argumentsText }: PolicyInput): unknown {
  return {
    subject: identity.subject,
    scopes: identity.scopes,
    tokenId: identity.tokenId,
    method,
    server: about?.server,
    name: about?.name,
    digest: about?.digest,
    isReadOnly: about?.hints.readOnlyHint.effective.value,
    argumentsText,
  };
}

describe('the policy decides on', () => {
  const inputs: unknown[] = [];
  const policy: Policy = (input) => {
    inputs.push(seen(input));
    return { kind: 'allow' };
  };

  it('a client’s call by who calls, the tool with its digest and effective hints, and the arguments', async () => {
    inputs.length = 0;
    const { view, sent } = await open(policy);
    await callTool(view, 's_read');
    const found = await view.tool('s_read');
    const digest = found.ok ? digestOf(found.value.definition) : undefined;
    expect(inputs).toEqual([
      {
        ...{ subject: 'reader', scopes: ['mcp'], tokenId: 't1', method: 'tools/call' },
        ...{ server: 's', name: 'read', digest, isReadOnly: true, argumentsText: '{"path":"a"}' },
      },
    ]);
    expect(sent).toEqual(['tools/call']);
  });

  it('the call of a configuration tool in the same way', async () => {
    inputs.length = 0;
    const { view } = await open(policy);
    await callTool(view, OWN.key);
    const digest = digestOf(OWN.definition);
    expect(inputs).toEqual([
      {
        ...{ subject: 'reader', scopes: ['mcp'], tokenId: 't1', method: 'tools/call' },
        ...{ server: undefined, name: OWN.name, digest, isReadOnly: false, argumentsText: '{"path":"a"}' },
      },
    ]);
  });

  it('the tool that a tool of Assay stands for', async () => {
    inputs.length = 0;
    const { view, sent } = await open(policy);
    await callTool(view, 'call_tool');
    expect(inputs).toMatchObject([{ server: 's', name: 'read', isReadOnly: true }]);
    expect(sent).toEqual(['tools/call']);
  });

  it('a call of the command line, which has an identity of its own', async () => {
    inputs.length = 0;
    const { view } = await open(policy);
    const params = { name: 's_read', arguments: {} };
    await answerOwn(view, {
      identity: LOCAL_USER,
      method: 'tools/call',
      params,
      onProgress: () => undefined,
    });
    expect(inputs).toMatchObject([{ subject: 'local', scopes: LOCAL_USER.scopes, name: 'read' }]);
  });
});

describe('a call that the policy refuses', () => {
  const refuse: Policy = () => ({ kind: 'refuse', reasons: ['it is Sunday'] });

  it.each(['s_read', OWN.key, 'call_tool'])(
    'is told why, reaches nothing, and is recorded: %s',
    async (name) => {
      const { view, sent, recorded } = await open(refuse);
      const refusal = { code: 'CALL_REFUSED', reasons: ['it is Sunday'] };
      expect(await callTool(view, name)).toEqual({ kind: 'refused', refusal });
      expect(sent).toEqual([]);
      expect(recorded).toEqual([`${name === OWN.key ? '' : 's'} tools/call CALL_REFUSED`]);
    },
  );
});

describe('a record is made of', () => {
  it.each([
    ['a call', 's_read', 's tools/call ok'],
    ['a call through a tool that stands for another', 'call_tool', 's tools/call ok'],
    ['a call of a configuration tool', OWN.key, ' tools/call ok'],
    ['a call of a tool that does not exist', 's_gone', ' tools/call TOOL_UNKNOWN'],
  ])('%s', async (_, name, record) => {
    const { view, recorded } = await open(() => ({ kind: 'allow' }));
    await callTool(view, name);
    expect(recorded).toEqual([record]);
  });

  it('a call whose server is down, and no secret in the cause reaches the client', async () => {
    const { view, recorded } = await open(() => ({ kind: 'allow' }));
    const cause = { code: 'PROCESS_NOT_STARTED', error: '***' };
    expect(await callTool(view, 'down')).toEqual({
      kind: 'refused',
      refusal: { code: 'SERVER_UNAVAILABLE', server: 's', cause },
    });
    expect(recorded).toEqual([' tools/call SERVER_UNAVAILABLE']);
  });

  it('a call over which Assay fails', async () => {
    const { view, recorded } = await open(() => ({ kind: 'allow' }));
    await expect(callTool(view, FAILING.key)).rejects.toThrow('a bug');
    expect(recorded).toEqual([' tools/call INTERNAL']);
  });
});
