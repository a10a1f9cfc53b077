import { describe, expect, it } from 'vitest';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { type Decision, NO_POLICY, type Policy, type PolicyInput } from '../../src/core/policy/policy.ts';
import { LOCAL_USER, type Identity } from '../../src/core/subject.ts';
import { answerOwn } from '../../src/gateway/relay/own-call.ts';
import { type Answer, Call } from '../../src/gateway/relay/call.ts';
import { createRelay } from '../../src/gateway/relay/pipeline.ts';
import type { Relay } from '../../src/gateway/relay/call.ts';
import { getDigest } from '../../src/gateway/catalog/definition-facts.ts';
import type { LiveLabels } from '../../src/gateway/catalog/call-deps.ts';
import type { ConfigurationTool } from '../../src/gateway/catalog/visible-listing.ts';
import { View } from '../../src/gateway/catalog/view.ts';
import type { Connect, Link } from '../../src/gateway/ports/link.ts';
import type { Meter } from '../../src/gateway/ports/telemetry.ts';
import { err } from '@assay-mcp/kit/result';
import { buildOwnRequest, readServerMessage } from '@assay-mcp/protocol/message';
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

/** Calls the tool "read" of the server. */
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
  readonly relay: Relay;
  readonly view: View;
  /** The methods of the calls that reached the server. */
  readonly sent: readonly string[];
  /** `server method ending` for each recorded call. */
  readonly recorded: readonly string[];
  readonly decisions: readonly string[];
}

interface More {
  readonly labels?: LiveLabels;
  /** The server's behavior for a tool call. Lists nothing by default. */
  readonly send?: Link['send'];
}

async function open(
  given: Partial<Policy>,
  { labels = NOTHING_ASKS.labels, send }: More = {},
): Promise<Opened> {
  const sent: string[] = [];
  const recorded: string[] = [];
  const decisions: string[] = [];
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
          if (request.message.method !== 'tools/call') return inner.send(request);
          sent.push(request.message.method);
          return (send ?? inner.send)(request);
        },
      },
    };
  };
  const server = listed('s', { tools }, { connect });
  server.start();
  await server.settled();
  server.lists.inventory = { ...server.lists.inventory, ...inventoryOf({ tools }) };
  const meter: Omit<Meter, 'expose'> = {
    decided: (decision) => decisions.push(decision),
    repeated: () => undefined,
    cached: () => undefined,
    unrecorded: () => undefined,
    called: () => undefined,
    refusedClient: () => undefined,
    notSignedIn: () => undefined,
    stored: () => undefined,
    dropped: () => undefined,
    of: (name, method) => ({
      begin: () => 0,
      end: (ending) => recorded.push(`${name} ${method} ${ending}`),
    }),
  };
  const relay = createRelay({
    ...NOTHING_ASKS,
    labels,
    policy: { current: { ...NO_POLICY, ...given } },
    telemetry: {
      meter: { ...meter, expose: () => expect.unreachable() },
      tracer: undefined,
      mask: (text) => text.replaceAll('hunter2', '***'),
    },
  });
  const view: View = new View({
    endpoint: 'all',
    servers: () => [server],
    isAggregated: true,
    settled: () => Promise.resolve(),
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
    servers: () => [server],
    isAggregated: true,
    settled: () => Promise.resolve(),
  });
  return { relay, view, sent, recorded, decisions };
}

function callTool({ relay, view }: Pick<Opened, 'relay' | 'view'>, name: string): Promise<Answer> {
  return relay.answer(
    new Call({
      caller: { era: 'legacy', relay, view, clientInfo: undefined, logLevel: undefined },
      identity: READER,
      message: buildOwnRequest('tools/call', { name, arguments: { path: 'a' } }),
      cancellation: new Cancellation(),
      client: { notify: () => undefined, ask: undefined },
      logLevel: undefined,
    }),
  );
}

const ALLOW: Decision = { kind: 'allow', reasons: [{ code: 'own_tool' }] };
const ASK: Decision = { kind: 'ask', per: 'call', reasons: [{ code: 'destructive', origin: 'default' }] };
const REFUSE: Decision = { kind: 'refuse', reasons: [{ code: 'unannotated' }] };

function seen({ identity, toolset, labels, tool: about }: PolicyInput): unknown {
  return {
    identity,
    toolset,
    labels: [...labels],
    server: about?.server,
    name: about?.name,
    digest: about?.digest,
    isReadOnly: about?.hints.readOnlyHint.effective.value,
  };
}

describe('the policy decides', () => {
  const inputs: unknown[] = [];
  const policy: Partial<Policy> = {
    decide: (input) => {
      inputs.push(seen(input));
      return ALLOW;
    },
  };

  it('on a client’s call, given the caller and the tool with its digest and hints', async () => {
    inputs.length = 0;
    const { relay, view, sent, decisions } = await open(policy);
    await callTool({ relay, view }, 's_read');
    const found = await view.tool('s_read');
    const digest = found.ok ? getDigest(found.value.definition) : undefined;
    expect(inputs).toEqual([
      {
        ...{ identity: READER, toolset: undefined, labels: [] },
        ...{ server: 's', name: 'read', digest, isReadOnly: true },
      },
    ]);
    expect(sent).toEqual(['tools/call']);
    expect(decisions).toEqual(['allow']);
  });

  it('on the call of a configuration tool in the same way', async () => {
    inputs.length = 0;
    const { relay, view } = await open(policy);
    await callTool({ relay, view }, OWN.key);
    const digest = getDigest(OWN.definition);
    expect(inputs).toEqual([
      {
        ...{ identity: READER, toolset: undefined, labels: [] },
        ...{ server: undefined, name: OWN.name, digest, isReadOnly: false },
      },
    ]);
  });

  it('on the tool that call_tool calls', async () => {
    inputs.length = 0;
    const { relay, view, sent } = await open(policy);
    await callTool({ relay, view }, 'call_tool');
    expect(inputs).toMatchObject([{ server: 's', name: 'read', isReadOnly: true }]);
    expect(sent).toEqual(['tools/call']);
  });

  it('on a call from the command line, which has its own identity', async () => {
    inputs.length = 0;
    const { relay, view } = await open(policy);
    const params = { name: 's_read', arguments: {} };
    await answerOwn(relay, view, {
      identity: LOCAL_USER,
      method: 'tools/call',
      params,
      onNotification: () => undefined,
    });
    expect(inputs).toMatchObject([{ identity: LOCAL_USER, name: 'read' }]);
  });

  it('with the same tool object for each call', async () => {
    const tools = new Set<unknown>();
    const { relay, view } = await open({
      decide: ({ tool: about }) => {
        tools.add(about);
        return ALLOW;
      },
    });
    for (const name of ['s_read', 's_read', 'call_tool']) await callTool({ relay, view }, name);
    expect(tools.size).toBe(1);
  });
});

describe('a call refused by the policy', () => {
  it.each(['s_read', OWN.key, 'call_tool'])(
    'gets the reasons, reaches no server, and is recorded: %s',
    async (name) => {
      const { relay, view, sent, recorded, decisions } = await open({ decide: () => REFUSE });
      const refusal = { code: 'CALL_REFUSED', tool: name, reasons: REFUSE.reasons };
      expect(await callTool({ relay, view }, name)).toEqual({ kind: 'refused', refusal });
      expect(sent).toEqual([]);
      expect(recorded).toEqual([`${name === OWN.key ? '' : 's'} tools/call CALL_REFUSED`]);
      expect(decisions).toEqual(['refuse']);
    },
  );

  it('only because the store cannot be read for now may be repeated', async () => {
    const decision = { kind: 'refuse', reasons: [{ code: 'store_away' }] } as const;
    const { relay, view, sent } = await open({ decide: () => decision });
    expect(await callTool({ relay, view }, 's_read')).toMatchObject({ refusal: { code: 'STORE_STALE' } });
    expect(sent).toEqual([]);
  });
});

describe('a call that needs approval', () => {
  it('is sent if approvals are left to the client, and the decision is counted', async () => {
    const { relay, view, sent, decisions } = await open({ decide: () => ASK, approvals: 'client' });
    expect(await callTool({ relay, view }, 's_read')).toMatchObject({ kind: 'relayed' });
    expect(sent).toEqual(['tools/call']);
    expect(decisions).toEqual(['ask']);
  });

  it.each([true, false])(
    'reaches no server if Assay handles approvals (warnings: %s)',
    async (showWarnings) => {
      const { relay, view, sent } = await open({ decide: () => ASK, approvals: 'gateway', showWarnings });
      const warning = { hint: 'openWorldHint', value: true, origin: 'default' };
      // The server declares it read-only, and is not trusted.
      const untrusted = { server: 's', hint: 'readOnlyHint', value: true, isDecisive: false };
      const destroys = { ...warning, hint: 'destructiveHint', untrusted };
      const refusal = {
        code: 'APPROVAL_REQUIRED',
        tool: 's_read',
        reasons: ASK.reasons,
        warnings: showWarnings ? [destroys, warning] : [],
      };
      expect(await callTool({ relay, view }, 's_read')).toEqual({ kind: 'refused', refusal });
      expect(sent).toEqual([]);
    },
  );
});

describe('a call that times out', () => {
  const NOTE = Buffer.from('{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"do this"}}');

  it.each([
    ['labels its caller if its client received a message of the server', true],
    ['does not label its caller otherwise', false],
  ])('%s', async (_, isNotified) => {
    const steps: string[] = [];
    let save: (() => void) | undefined;
    const labels: LiveLabels = {
      ...NOTHING_ASKS.labels,
      add(subject, seenLabels, source) {
        steps.push(`${subject} ${[...seenLabels].join()} ${source}`);
        return new Promise((resolve) => {
          save = () => resolve(void steps.push('saved'));
        });
      },
    };
    const { relay, view } = await open(
      { outbound: 'ask', enforcesLabels: 'all' },
      {
        labels,
        send(request) {
          const note = readServerMessage(NOTE);
          if (isNotified && note.kind === 'notification') request.onNotification?.(note, NOTE);
          return Promise.resolve(err({ code: 'SERVER_TIMEOUT', server: 's', limitMs: 1 }));
        },
      },
    );
    const answered = callTool({ relay, view }, 's_read').then(({ kind }) => steps.push(kind));
    if (isNotified) await expect.poll(() => save !== undefined).toBe(true);
    save?.();
    await answered;
    expect(steps).toEqual(isNotified ? ['reader saw-untrusted s.read', 'saved', 'refused'] : ['refused']);
  });
});

describe('the record is written for', () => {
  it.each([
    ['a call', 's_read', 's tools/call ok'],
    ['a call forwarded by call_tool', 'call_tool', 's tools/call ok'],
    ['a call of a configuration tool', OWN.key, ' tools/call ok'],
    ['a call of a tool that does not exist', 's_gone', ' tools/call TOOL_UNKNOWN'],
  ])('%s', async (_, name, record) => {
    const { relay, view, recorded } = await open({});
    await callTool({ relay, view }, name);
    expect(recorded).toEqual([record]);
  });

  it('a call whose server is down, and the client does not see the secret in the cause', async () => {
    const { relay, view, recorded } = await open({});
    const cause = { code: 'PROCESS_NOT_STARTED', error: '***' };
    expect(await callTool({ relay, view }, 'down')).toEqual({
      kind: 'refused',
      refusal: { code: 'SERVER_UNAVAILABLE', server: 's', cause },
    });
    expect(recorded).toEqual([' tools/call SERVER_UNAVAILABLE']);
  });

  it('a call that fails because of a bug in Assay', async () => {
    const { relay, view, recorded } = await open({});
    await expect(callTool({ relay, view }, FAILING.key)).rejects.toThrow('a bug');
    expect(recorded).toEqual([' tools/call INTERNAL']);
  });
});
