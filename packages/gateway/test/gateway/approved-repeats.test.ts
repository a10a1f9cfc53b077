import { describe, expect, it } from 'vitest';
import type { Decision, PolicyTool } from '../../src/core/policy/policy.ts';
import { ApprovedRepeats, type DecidedCall } from '../../src/gateway/catalog/approved-repeats.ts';
import type { ClientSession } from '../../src/gateway/catalog/client-session.ts';
import { buildOwnRequest } from '@assay-mcp/protocol/message';
import { claimsOf, toolWith } from '../core/policy/tools.ts';
import { envelope, META } from '../../../../test/support/modern.ts';
import { definition, listed, tool } from './listed-server.ts';

const ASKED: Decision = { kind: 'ask', per: 'call', reasons: [{ code: 'unannotated' }] };
const SERVER = listed('s');
const OTHER_SERVER = listed('other');
const DEFINITION = definition('tools', tool('set'));

function toolIs(source: 'trusted' | 'untrusted', more: Partial<PolicyTool> = {}): PolicyTool {
  return toolWith(claimsOf({ idempotentHint: true }, source), more);
}

function session(id: string): ClientSession {
  const profile = { capabilities: '{}', clientInfo: undefined, subject: 'ann' };
  return { id, profile, ask: () => undefined, notify: () => undefined };
}

function modern(name: string): Partial<DecidedCall> {
  const _meta = envelope({ [`${META}clientInfo`]: { name } });
  return { era: 'modern', session: undefined, message: buildOwnRequest('tools/call', { _meta }) };
}

const CALL: DecidedCall = {
  era: 'legacy',
  message: buildOwnRequest('tools/call', {}),
  subject: 'ann',
  clientInfo: undefined,
  session: session('1'),
  identity: { subject: 'ann', scopes: ['mcp'], tokenId: 't1' },
  entry: { server: SERVER, definition: DEFINITION },
  tool: toolIs('trusted'),
  decision: ASKED,
  approval: { id: 'a' },
  argumentsText: '{"a":1,"b":2}',
};

const DIFFERENT: Readonly<Record<string, Partial<DecidedCall>>> = {
  'other arguments': { argumentsText: '{"a":1,"b":3}' },
  'a number that only rounds to the same value': { argumentsText: '{"a":1,"b":2.00000000000000000001}' },
  'no arguments': { argumentsText: undefined },
  'a duplicate argument': { argumentsText: '{"a":0,"a":1,"b":2}' },
  'another session': { session: session('2') },
  'no session': modern('a'),
  'another subject': { identity: { ...CALL.identity, subject: 'bob' } },
  'another token': { identity: { ...CALL.identity, tokenId: 't2' } },
  'a session of the admin pages': { identity: { ...CALL.identity, sessionId: 'p' } },
  'another tool': { entry: { server: SERVER, definition: definition('tools', tool('put')) } },
  'another server': { entry: { server: OTHER_SERVER, definition: definition('tools', tool('set')) } },
  'another definition': { tool: toolIs('trusted', { digest: 'changed' }) },
  'another reason to ask': { decision: { ...ASKED, reasons: [{ code: 'session_labels' }] } },
  'a tool no longer trusted': { tool: toolIs('untrusted') },
  'a refusal': { decision: { kind: 'refuse', reasons: ASKED.reasons } },
};

describe('an approved call that failed', () => {
  it('may be repeated once, even if its arguments are formatted differently', () => {
    const repeats = new ApprovedRepeats(() => 0);
    expect(repeats.take(CALL)).toBe(false);
    repeats.allow(CALL);
    const repeat = { ...CALL, argumentsText: '{ "b": 2, "a": 1 }' };
    expect([repeats.take(repeat), repeats.take(repeat)]).toEqual([true, false]);
  });

  it.each(Object.entries(DIFFERENT))('may not be repeated with %s', (_, change) => {
    const repeats = new ApprovedRepeats(() => 0);
    repeats.allow(CALL);
    expect(repeats.take({ ...CALL, ...change })).toBe(false);
    expect(repeats.take(CALL)).toBe(true);
  });

  it('may be repeated by the same client if there are no sessions', () => {
    const repeats = new ApprovedRepeats(() => 0);
    repeats.allow({ ...CALL, ...modern('a') });
    expect(repeats.take({ ...CALL, ...modern('b') })).toBe(false);
    expect(repeats.take({ ...CALL, ...modern('a') })).toBe(true);
  });

  it('may not be repeated without approval if it was not approved itself', () => {
    const repeats = new ApprovedRepeats(() => 0);
    repeats.allow({ ...CALL, approval: undefined });
    expect(repeats.take(CALL)).toBe(false);
  });

  it.each([
    ['repeats an approved call', { approval: { id: '' } }],
    ['continues one', { message: buildOwnRequest('tools/call', { requestState: 'x' }) }],
  ] as const satisfies readonly (readonly [string, Partial<DecidedCall>])[])(
    'may not be repeated without another approval if it %s',
    (_, change) => {
      const repeats = new ApprovedRepeats(() => 0);
      repeats.allow({ ...CALL, ...change });
      expect(repeats.take(CALL)).toBe(false);
    },
  );

  it('may not be repeated if its tool is not known to be idempotent', () => {
    const repeats = new ApprovedRepeats(() => 0);
    const call = { ...CALL, tool: toolIs('untrusted') };
    repeats.allow(call);
    expect([repeats.take(call), repeats.take(CALL)]).toEqual([false, false]);
  });

  it('may not be repeated after ten minutes', () => {
    let nowMs = 0;
    const repeats = new ApprovedRepeats(() => nowMs);
    repeats.allow(CALL);
    repeats.allow({ ...CALL, session: session('2') });
    nowMs = 599_999;
    expect(repeats.take(CALL)).toBe(true);
    nowMs = 600_000;
    expect(repeats.take({ ...CALL, session: session('2') })).toBe(false);
  });

  it('is forgotten after 1,000 later ones', () => {
    const repeats = new ApprovedRepeats(() => 0);
    for (let n = 0; n <= 1_000; n += 1) repeats.allow({ ...CALL, session: session(String(n)) });
    const taken = ['0', '1', '1000'].map((id) => repeats.take({ ...CALL, session: session(id) }));
    expect(taken).toEqual([false, true, true]);
  });
});
