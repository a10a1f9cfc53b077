import { describe, expect, it, onTestFinished } from 'vitest';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { NO_POLICY, type Policy, type SessionLabel } from '../../src/core/policy/policy.ts';
import { BOTH_LABELS } from '../../src/core/policy/session-labels.ts';
import { LOCAL_USER } from '../../src/core/subject.ts';
import type { LiveLabels } from '../../src/gateway/catalog/call-deps.ts';
import { View } from '../../src/gateway/catalog/view.ts';
import { Call } from '../../src/gateway/relay/call.ts';
import { labelAnswer, learnLabels } from '../../src/gateway/relay/labels.ts';
import { createRelay } from '../../src/gateway/relay/pipeline.ts';
import type { Relay } from '../../src/gateway/relay/call.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { labelSession } from '../../src/gateway/catalog/client-session.ts';
import type { Connect, Link, ServerRequest } from '../../src/gateway/ports/link.ts';
import { type NotificationMessage, readServerMessage } from '@assay-mcp/protocol/message';
import { buildOwnRequest } from '@assay-mcp/protocol/message';
import { listLink } from './list-link.ts';
import { listed, NOTHING_ASKS, tool } from './listed-server.ts';

const SERVER = listed('s', { tools: [tool('act')] });

function callOf(method: string, labels: Partial<LiveLabels>, dependsOnLabels: boolean): Call {
  const policy = {
    ...NO_POLICY,
    outbound: 'ask',
    enforcesLabels: 'all',
    dependsOnLabels: () => dependsOnLabels,
  } as const;
  const relay = createRelay({
    ...NOTHING_ASKS,
    labels: { ...NOTHING_ASKS.labels, ...labels },
    policy: { current: policy },
  });
  const view = new View({
    endpoint: 'all',
    servers: () => [SERVER],
    isAggregated: true,
    settled: () => Promise.resolve(),
  });
  return new Call({
    caller: { era: 'legacy', relay, view, clientInfo: undefined, logLevel: undefined },
    identity: LOCAL_USER,
    message: buildOwnRequest(method, {}),
    cancellation: new Cancellation(),
    client: { notify: () => undefined, ask: undefined },
    logLevel: undefined,
  });
}

it.each([
  ['resources/read', ['saw-untrusted']],
  ['prompts/get', ['saw-untrusted']],
  ['tasks/get', ['saw-untrusted']],
  ['tasks/result', ['saw-untrusted']],
  ['completion/complete', ['saw-untrusted']],
  ['tasks/cancel', ['saw-untrusted']],
  ['tasks/list', ['saw-untrusted']],
] as const)('a response to %s, which has no hints, labels its caller: %j', async (method, expected) => {
  const added: SessionLabel[] = [];
  const add: LiveLabels['add'] = (_, labels) => void added.push(...labels);
  const answer = { kind: 'own', result: Buffer.from('{}') } as const;
  expect(await labelAnswer(callOf(method, { add }, false), SERVER, answer)).toBe(answer);
  expect(added).toEqual(expected);
});

it.each([
  [true, [...BOTH_LABELS]],
  [false, []],
])('labels set by another replica count if the decision depends on them: %s', async (depends, expected) => {
  const call = callOf('tools/call', { read: () => Promise.resolve(BOTH_LABELS) }, depends);
  const found = await call.view.tool('s_act');
  call.entry = found.ok ? found.value : undefined;
  await learnLabels(call);
  expect([...call.labels]).toEqual(expected);
});

const CAPABLE = { tools: {}, prompts: {}, resources: {}, completions: {} };
const LOG = noteOf({ method: 'notifications/message', params: { level: 'info', data: 'IGNORE' } });
const QUESTION: ServerRequest = {
  message: buildOwnRequest('elicitation/create', { message: 'IGNORE', requestedSchema: { type: 'object' } }),
  answer: () => undefined,
  progress: () => undefined,
  onWithdrawn: () => undefined,
};

function noteOf(content: object): NotificationMessage {
  const read = readServerMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...content })));
  if (read.kind !== 'notification') throw new Error('not a notification');
  return read;
}

/** What a server sends during a call before it answers, by way. */
const DURING: Readonly<Record<string, (request: Parameters<Link['send']>[0]) => void>> = {
  'a progress notification': (request) => {
    const note = noteOf({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } });
    request.onNotification?.(note, note.bytes);
  },
  'a log message': (request) => request.onNotification?.(LOG, LOG.bytes),
  'an elicitation': (request) => request.onServerRequest?.(QUESTION),
  'a sampling request': (request) =>
    request.onServerRequest?.({ ...QUESTION, message: buildOwnRequest('sampling/createMessage', {}) }),
};

interface Observed {
  /** What happened at the client, and when its labels were set. */
  readonly order: string[];
  readonly stored: PromiseWithResolvers<undefined>;
  readonly call: (method: string, params: object) => ReturnType<Relay['answer']>;
}

/** Sends something before the result. */
function before(send: (request: Parameters<Link['send']>[0]) => void): Parameters<typeof observe>[0] {
  return (request) => {
    send(request);
    return undefined;
  };
}

async function observe(
  send: (request: Parameters<Link['send']>[0]) => Awaited<ReturnType<Link['send']>> | undefined,
  outbound: Policy['outbound'],
): Promise<Observed> {
  const order: string[] = [];
  const stored = Promise.withResolvers<undefined>();
  const lists = JSON.stringify({
    tools: [tool('act')],
    prompts: [{ name: 'p' }],
    resources: [{ name: 'r', uri: 'r://1' }],
    resourceTemplates: [{ name: 't', uriTemplate: 't://{x}' }],
  });
  const connect: Connect = () => {
    const link = listLink(() => lists);
    const own: Link['send'] = (request) => {
      if (request.message.method.endsWith('/list')) return link.send(request);
      const answered = send(request);
      return answered === undefined ? link.send(request) : Promise.resolve(answered);
    };
    return Promise.resolve(ok({ ...link, capabilities: CAPABLE, asksCallers: true, send: own }));
  };
  const server = listed('s', {}, { connect });
  server.start();
  onTestFinished(() => server.stop());
  await server.waitUntilReady(new Cancellation());
  let labels: ReadonlySet<SessionLabel> = new Set();
  const relay = createRelay({
    ...NOTHING_ASKS,
    policy: { current: { ...NO_POLICY, outbound, enforcesLabels: outbound === 'allow' ? 'none' : 'all' } },
    labels: {
      ...NOTHING_ASKS.labels,
      add: (_, seen) => {
        if (labels.size === 0) order.push('labelled');
        labels = seen;
        return stored.promise;
      },
    },
  });
  const view = new View({
    endpoint: 'all',
    servers: () => [server],
    isAggregated: true,
    settled: () => Promise.resolve(),
  });
  const call = (method: string, params: object): ReturnType<Relay['answer']> =>
    relay
      .answer(
        new Call({
          caller: { era: 'legacy', relay, view, clientInfo: undefined, logLevel: undefined },
          identity: LOCAL_USER,
          message: buildOwnRequest(method, { ...params }),
          cancellation: new Cancellation(),
          client: {
            notify: ({ method: name }) => void order.push(name),
            ask: ({ message }) => void order.push(message.method),
          },
          logLevel: undefined,
        }),
      )
      .then((answered) => {
        order.push('answered');
        return answered;
      });
  return { order, stored, call };
}

describe.for(Object.entries(DURING))('%s before the result', ([, send]) => {
  it('is delivered after its label was set', async () => {
    const { order, call } = await observe(before(send), 'allow');
    await call('tools/call', { name: 's_act', arguments: {} });
    expect(order).toEqual(['labelled', expect.any(String), 'answered']);
  });

  it('waits for the label to be stored if decisions depend on it, and the result waits for it', async () => {
    const { order, stored, call } = await observe(before(send), 'refuse');
    const answered = call('tools/call', { name: 's_act', arguments: {} });
    await expect.poll(() => order).toEqual(['labelled']);
    stored.resolve(undefined);
    await answered;
    expect(order).toEqual(['labelled', expect.any(String), 'answered']);
  });
});

it.each([
  ['completion/complete', { ref: { type: 'ref/prompt', name: 's_p' }, argument: { name: 'x', value: '' } }],
  ['prompts/get', { name: 's_p' }],
  ['resources/read', { uri: 'r://1' }],
  ['tools/call', { name: 's_act', arguments: {} }],
])('a result of %s is delivered after its label was set', async (method, params) => {
  const { order, call } = await observe(() => undefined, 'allow');
  await call(method, params);
  expect(order).toEqual(['labelled', 'answered']);
});

it('a refusal that quotes its server is delivered after its label was set', async () => {
  const cause = { code: 'PROCESS_EXITED', exitCode: 1, stderr: 'IGNORE' } as const;
  const { order, call } = await observe(() => err({ code: 'SERVER_ENDED', server: 's', cause }), 'allow');
  await call('tools/call', { name: 's_act', arguments: {} });
  expect(order).toEqual(['labelled', 'answered']);
});

it('what a server sends outside calls is delivered after its label was set', () => {
  const order: string[] = [];
  const session = {
    id: 'x',
    profile: { capabilities: '{}', clientInfo: undefined, subject: 'anna' },
    ask: () => void order.push('asked'),
    notify: () => void order.push('notified'),
  };
  const seen = labelSession(session, SERVER.spec, (subject, labels) =>
    order.push(`${subject} ${[...labels].join()}`),
  );
  seen.notify(LOG);
  seen.ask(QUESTION);
  expect(order).toEqual(['anna saw-untrusted', 'notified', 'anna saw-untrusted', 'asked']);
});
