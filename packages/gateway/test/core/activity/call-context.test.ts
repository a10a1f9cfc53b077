import { describe, expect, it } from 'vitest';
import { toContext } from '../../../src/core/activity/call-context.ts';
import {
  type FinishedCall,
  readCallEntry,
  readCallFacts,
  splitEntry,
} from '../../../src/core/activity/call-entry.ts';
import { serializeCanonical } from '@assay-mcp/kit/canonical-json';
import { resolveHints } from '../../../src/core/hints/resolve.ts';
import type { PolicyTool } from '../../../src/core/policy/policy.ts';
import { finishedCall } from '../../../../../test/support/call-values.ts';

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
  durationMs: 12.345,
});

describe('the context of a call', () => {
  it('contains all that the call may have in common with others', () => {
    expect(JSON.parse(toContext(WHOLE).text)).toEqual({
      kind: 'call',
      subject: ODD,
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
      outcome: 'ok',
    });
  });

  it.each([
    ['with all members', WHOLE],
    ['with few members', finishedCall({ client: undefined })],
    ['for a built-in tool', finishedCall({ tool: { ...TOOL, server: undefined } })],
    ['for a client without usable info', finishedCall({ client: '{"name":1}' })],
  ])('is canonical JSON: %s', (_, call) => {
    const { text } = toContext(call);
    expect(text).toBe(serializeCanonical(JSON.parse(text)));
  });

  it('is the same object for calls that have everything in common, and for no others', () => {
    const context = toContext(WHOLE);
    const same = { ...WHOLE, durationMs: 1, sessionId: 'other', labels: [...(WHOLE.labels ?? [])] };
    expect(toContext(same)).toBe(context);
    expect(toContext({ ...WHOLE, decision: structuredClone(WHOLE.decision) })).toBe(context);
    const changes: readonly Partial<FinishedCall>[] = [
      { subject: 'x' },
      { client: '{}' },
      { endpoint: 'x' },
      { toolset: undefined },
      { labels: ['saw-private'] },
      { publicName: 'x' },
      { tool: { ...TOOL, digest: 'cd' } },
      { toolId: 'tool_2' },
      { decision: undefined },
      { isAsked: false },
      { outcome: 'error' },
    ];
    const texts = changes.map((change) => toContext({ ...WHOLE, ...change }).text);
    expect(new Set([context.text, ...texts]).size).toBe(changes.length + 1);
    expect(toContext(WHOLE)).toBe(context);
  });

  it('is not kept in memory if a client chose long texts, and is the same nevertheless', () => {
    const long = 'x'.repeat(2_000);
    for (const change of [
      { client: JSON.stringify({ name: long }) },
      { publicName: long },
      { subject: long },
    ]) {
      const [one, other] = [toContext({ ...WHOLE, ...change }), toContext({ ...WHOLE, ...change })];
      expect(other).not.toBe(one);
      expect(other).toEqual(one);
    }
  });

  it('is forgotten with all others when there are too many', () => {
    const context = toContext(WHOLE);
    for (let nth = 0; nth < 10_000; nth += 1)
      toContext({ ...WHOLE, tool: { ...TOOL }, publicName: `t${nth}` });
    expect(toContext(WHOLE)).not.toBe(context);
    expect(toContext(WHOLE)).toEqual(context);
  });

  it('and the rest of the call make the entry, and the entry makes them again', () => {
    const long = 'x'.repeat(300);
    for (const call of [
      WHOLE,
      finishedCall(),
      finishedCall({ subject: long, publicName: long, outcome: 'tool_error' }),
      finishedCall({ tool: { ...TOOL, name: long } }),
      finishedCall({ tool: { ...TOOL, server: undefined } }),
    ]) {
      const { text, facts } = toContext(call);
      const row = { atMs: 1_790_000_000_123, tenths: 123, session: 'ab', details: '{"approval":{"by":"a"}}' };
      const entry = readCallEntry(row, text) ?? expect.unreachable();
      expect(entry).toMatchObject({ at: '2026-09-21T14:13:20.123Z', durationMs: 12.3, session: 'ab' });
      expect(splitEntry(entry)).toEqual({ row, context: text });
      expect(readCallFacts(entry)).toEqual(facts);
    }
  });
});
