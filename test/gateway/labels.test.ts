import { expect, it } from 'vitest';
import { Cancellation } from '../../src/core/cancellation.ts';
import { NO_POLICY, type SessionLabel } from '../../src/core/policy/policy.ts';
import { BOTH_LABELS } from '../../src/core/policy/session-labels.ts';
import { LOCAL_USER } from '../../src/core/subject.ts';
import type { LiveLabels } from '../../src/gateway/catalog/call-deps.ts';
import { View } from '../../src/gateway/catalog/view.ts';
import { Call } from '../../src/gateway/relay/call.ts';
import { labelled, learnLabels } from '../../src/gateway/relay/labels.ts';
import { ownRequest } from '../../src/protocol/message.ts';
import { listed, NOTHING_ASKS, tool } from './listed-server.ts';

const SERVER = listed('s', { tools: [tool('act')] });

function callOf(method: string, labels: Partial<LiveLabels>, dependsOnLabels: boolean): Call {
  const policy = { ...NO_POLICY, outbound: 'ask', dependsOnLabels: () => dependsOnLabels } as const;
  const view = new View({
    endpoint: 'all',
    calls: { ...NOTHING_ASKS, labels: { ...NOTHING_ASKS.labels, ...labels }, policy: { current: policy } },
    servers: () => [SERVER],
    isAggregated: true,
    settled: () => Promise.resolve(),
  });
  return new Call({
    caller: { era: 'legacy', view, clientInfo: undefined, logLevel: undefined },
    identity: LOCAL_USER,
    message: ownRequest(method, {}),
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
  ['completion/complete', []],
  ['tasks/cancel', []],
] as const)('a response to %s, which has no hints, labels its caller: %j', async (method, expected) => {
  const added: SessionLabel[] = [];
  const add: LiveLabels['add'] = (_, labels) => void added.push(...labels);
  const answer = { kind: 'own', result: Buffer.from('{}') } as const;
  expect(await labelled(callOf(method, { add }, false), SERVER, answer)).toBe(answer);
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
