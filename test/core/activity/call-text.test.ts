import { describe, expect, it } from 'vitest';
import { type CallEntry, readCallFacts, type FinishedCall } from '../../../src/core/activity/call-entry.ts';
import { toCallFacts, serializeCall } from '../../../src/core/activity/call-text.ts';
import { serializeCanonical } from '../../../src/core/canonical-json.ts';
import { resolveHints } from '../../../src/core/hints/resolve.ts';
import type { PolicyTool } from '../../../src/core/policy/policy.ts';
import { finishedCall } from '../../support/call-values.ts';

const TOOL: PolicyTool = {
  server: 'files',
  name: 'read',
  digest: 'ab',
  hints: resolveHints([], 'ab'),
  confirm: 'always',
};
const ODD = 'a\u0000 \ud800 "\\ é\u2028';
const WHOLE: FinishedCall = finishedCall({
  subject: ODD,
  sessionId: 'secret',
  client: JSON.stringify({ name: ODD, version: '1', extra: 1 }),
  endpoint: 'toolsets/x',
  toolset: ODD,
  labels: ['saw-untrusted', 'saw-private'],
  tool: TOOL,
  toolId: 'tool_1',
  decision: {
    kind: 'ask',
    per: 'call',
    reasons: [{ code: 'rule', effect: 'ask', rule: ODD, because: undefined }],
  },
  approval: { id: 'a', by: 'boss', scope: 'once' },
  durationMs: 12.345,
});
const ARGUMENTS = { bytes: 2, form: 'full', isShortened: false, text: '{}' } as const;

describe('the entry of a call', () => {
  it('contains everything known about the call', () => {
    expect(JSON.parse(serializeCall(WHOLE, 0, ARGUMENTS))).toEqual({
      kind: 'call',
      at: '1970-01-01T00:00:00.000Z',
      subject: ODD,
      session: expect.stringMatching(/^[\da-f]{16}$/) as string,
      client: { name: ODD, version: '1' },
      endpoint: 'toolsets/x',
      toolset: ODD,
      labels: ['saw-untrusted', 'saw-private'],
      tool: {
        id: 'tool_1',
        publicName: 'files_read',
        namespacedName: 'files.read',
        server: 'files',
        digest: 'ab',
        confirm: 'always',
      },
      hints: {
        readOnlyHint: { value: false, reason: 'default' },
        destructiveHint: { value: true, reason: 'default' },
        idempotentHint: { value: false, reason: 'default' },
        openWorldHint: { value: true, reason: 'default' },
      },
      decision: { kind: 'ask', per: 'call', reasons: [{ code: 'rule', effect: 'ask', rule: ODD }] },
      approval: { id: 'a', by: 'boss', scope: 'once' },
      outcome: 'ok',
      durationMs: 12.3,
      arguments: ARGUMENTS,
    });
  });

  it.each([
    ['with all members', WHOLE, ARGUMENTS],
    ['with few members', finishedCall({ client: undefined }), undefined],
    ['for a built-in tool', finishedCall({ tool: { ...TOOL, server: undefined } }), undefined],
    ['for a client without usable info', finishedCall({ client: '{"name":1}' }), undefined],
  ])('is canonical JSON: %s', (_, call, args) => {
    const text = serializeCall(call, 1_790_000_000_123, args);
    expect(text).toBe(serializeCanonical(JSON.parse(text)));
  });

  it('is correct for each call, although parts of it are cached', () => {
    const named = (publicName: string): unknown =>
      JSON.parse(serializeCall(finishedCall({ tool: TOOL, publicName }), 0));
    for (const name of ['one', 'other', 'one'])
      expect(named(name)).toMatchObject({ tool: { publicName: name } });
  });
});

describe('the facts by which a call is found', () => {
  const long = 'x'.repeat(300);
  const calls: readonly FinishedCall[] = [
    WHOLE,
    finishedCall(),
    finishedCall({ subject: long, publicName: long, outcome: 'tool_error' }),
    finishedCall({ tool: { ...TOOL, name: long } }),
    finishedCall({ tool: { ...TOOL, server: undefined } }),
  ];

  it('match its entry', () => {
    for (const call of calls)
      expect(toCallFacts(call, undefined)).toEqual(
        readCallFacts(JSON.parse(serializeCall(call, 0)) as CallEntry),
      );
  });

  it('are the same object for calls with equal facts', () => {
    const facts = toCallFacts(WHOLE, undefined);
    expect(toCallFacts({ ...WHOLE, durationMs: 1 }, facts)).toBe(facts);
    for (const call of calls.slice(1)) expect(toCallFacts(call, facts)).not.toBe(facts);
  });
});
