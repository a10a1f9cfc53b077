import { expect, it } from 'vitest';
import { POLICY_SETTINGS } from '../../src/core/policy/policy-settings.ts';
import type { PolicyRule } from '../../src/core/policy/rule.ts';
import { POLICY_RULES, type RecordBodies, type SettingValue } from '../../src/core/record.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { CallPolicy, type CallPolicyOptions } from '../../src/gateway/catalog/call-policy.ts';
import type { RecordsChange } from '../../src/gateway/catalog/record-edit.ts';
import { type Identity, LOCAL_USER } from '../../src/core/subject.ts';
import { callerWith, claimsOf, shownDecision, toolWith } from '../core/policy/tools.ts';

const TOOL = toolWith(claimsOf({ readOnlyHint: false, destructiveHint: false }, 'trusted'));
const shown = (policy: CallPolicy): string =>
  `${policy.current.approvals} ${shownDecision(policy.current.decide({ ...callerWith(), tool: TOOL }))}`;

function openRecords(isRead: boolean): {
  readonly records: CallPolicyOptions['records'];
  readonly take: (settings: Readonly<Record<string, SettingValue>>) => void;
  readonly prefer: (id: string, preferences: Readonly<Record<string, SettingValue>> | undefined) => void;
  readonly read: () => void;
  /** Undefined: a newer Assay stored rules that this one cannot read. */
  readonly storeRules: (rules: readonly PolicyRule[] | undefined) => void;
  readonly reads: () => number;
} {
  let settings = new Map<string, SettingValue>();
  const ofTokens = new Map<string, RecordBodies['token_preferences']>();
  let rules: readonly PolicyRule[] | undefined = [];
  let isKnown = isRead;
  let reads = 0;
  let tell: (change: RecordsChange) => void = () => undefined;
  return {
    records: {
      get isKnown() {
        return isKnown;
      },
      isFresh: true,
      readAgain: () => Promise.resolve(ok(undefined)),
      ready: () => {
        reads += 1;
        return Promise.resolve(err({ code: 'STORE_UNAVAILABLE', reason: 'it is away' }));
      },
      settings: () => settings,
      stops: () => [],
      get: (kind, id) =>
        (kind === 'token_preferences'
          ? ofTokens.get(id)
          : kind === 'policy_rules' && rules !== undefined
            ? { rules }
            : undefined) as RecordBodies[typeof kind] | undefined,
      unreadable: () =>
        rules === undefined
          ? { code: 'RECORD_UNREADABLE', ...POLICY_RULES, reason: 'it has version 2' }
          : undefined,
      onChange: (listener) => {
        tell = listener;
        return () => undefined;
      },
    },
    take: (given) => {
      const isFirst = !isKnown;
      isKnown = true;
      settings = new Map(Object.entries(given));
      const records = [...settings].map(([id, body]) => ({ kind: 'setting', id, body }) as const);
      tell({ records, isFirst });
    },
    prefer: (id, preferences) => {
      const body = preferences && { preferences };
      if (body === undefined) ofTokens.delete(id);
      else ofTokens.set(id, body);
      tell({ records: [{ kind: 'token_preferences', id, body }], isFirst: false });
    },
    read: () => {
      isKnown = true;
    },
    storeRules: (given) => {
      rules = given;
      const isFirst = !isKnown;
      isKnown = true;
      tell({ records: [{ ...POLICY_RULES, body: rules && { rules } }], isFirst });
    },
    reads: () => reads,
  };
}

const SOURCES = { isStored: true, env: {}, file: new Map<string, unknown>() };

it('calls wait until the stored preferences are known, and are refused without them', async () => {
  const { records, take, reads } = openRecords(false);
  const policy = new CallPolicy({ ...SOURCES, records, rules: [] });
  for (const tries of [1, 2]) {
    await policy.pending;
    expect([reads(), shown(policy)]).toEqual([tries, 'gateway refuse: store_away']);
  }
  expect(policy.followRules([{ effect: 'allow' }])).toBe(false);
  expect(shown(policy)).toBe('gateway refuse: store_away');
  take({});
  expect([policy.pending, shown(policy)]).toEqual([undefined, 'client allow: rule']);
});

it('stored rules apply along with those of the config file, as soon as they are stored', () => {
  const { records, storeRules, take } = openRecords(false);
  const policy = new CallPolicy({ ...SOURCES, records, rules: [{ effect: 'allow' }] });
  take({});
  expect(shown(policy)).toBe('client allow: rule');
  storeRules([{ effect: 'refuse', tool: ['*'] }]);
  expect(shown(policy)).toBe('client refuse: rule');
  expect(policy.followRules([{ effect: 'ask' }])).toBe(true);
  expect(shown(policy)).toBe('client refuse: rule');
  storeRules([]);
  expect(shown(policy)).toBe('client ask call: rule');
});

it('every call is refused if rules cannot be read, since one of them might refuse it', () => {
  const { records, storeRules } = openRecords(false);
  const policy = new CallPolicy({ ...SOURCES, records, rules: [{ effect: 'allow' }] });
  storeRules(undefined);
  expect(shown(policy)).toBe('gateway refuse: preferences_unknown');
  storeRules([]);
  expect(shown(policy)).toBe('client allow: rule');
});

it('preferences are known once an empty store has been read, even without a change', () => {
  const { records, read } = openRecords(false);
  const policy = new CallPolicy({ ...SOURCES, records, rules: [] });
  read();
  expect([policy.pending, shown(policy)]).toEqual([undefined, 'client ask session: default_confirm']);
});

it('the store is needed for its rules even if the config file fixes all preferences', () => {
  const file = new Map<string, unknown>(
    Object.entries(POLICY_SETTINGS).map(([key, { kind }]) => [key, kind.defaultValue]),
  );
  const { records } = openRecords(false);
  const policy = new CallPolicy({ ...SOURCES, file, records, rules: [] });
  expect(shown(policy)).toBe('gateway refuse: store_away');
});

it('a command in a home without a store does not wait', () => {
  const { records } = openRecords(false);
  const policy = new CallPolicy({ ...SOURCES, isStored: false, records, rules: [] });
  expect([policy.pending, shown(policy)]).toEqual([undefined, 'client ask session: default_confirm']);
});

it('stored preferences apply as soon as they are stored, unless the environment or config file fixes them', () => {
  const { records, take } = openRecords(true);
  const env = { ASSAY_POLICY_CONFIRM: 'never' };
  const policy = new CallPolicy({
    ...SOURCES,
    records,
    env,
    file: new Map([['approvals', 'client']]),
    rules: [],
  });
  expect(shown(policy)).toBe('client allow: default_confirm');
  take({ approvals: 'gateway', 'policy.confirm': 'always', 'policy.unannotated': 'no such value' });
  expect(shown(policy)).toBe('client allow: default_confirm');
  const stored = openRecords(true);
  const other = new CallPolicy({ ...SOURCES, records: stored.records, rules: [] });
  stored.take({ approvals: 'gateway', 'policy.confirm': 'always' });
  expect(shown(other)).toBe('gateway ask call: default_confirm');
});

it('unchanged rules keep cached decisions', () => {
  const { records } = openRecords(true);
  const policy = new CallPolicy({ ...SOURCES, records, rules: [{ effect: 'ask' }] });
  const { current } = policy;
  expect(policy.followRules([{ effect: 'ask' }])).toBe(false);
  expect(policy.current).toBe(current);
  expect(policy.followRules([{ effect: 'refuse' }])).toBe(true);
  expect(shown(policy)).toBe('client refuse: rule');
});

it("a token's preferences apply to its calls only, and override stored but not fixed ones", () => {
  const { records, take, prefer } = openRecords(true);
  const file = new Map([['policy.unannotated', 'ask']]);
  const policy = new CallPolicy({ ...SOURCES, file, records, rules: [] });
  const CI = { subject: 'ci', tokenId: 'c1', scopes: [] } as const;
  const by = (identity: Identity): string =>
    shownDecision(policy.of(identity).decide({ ...callerWith({ identity }), tool: TOOL }));
  prefer('c1', { 'policy.confirm': 'never', approvals: 'gateway', 'policy.unannotated': 'refuse' });
  expect([by(CI), by(LOCAL_USER), by({ ...CI, tokenId: 'c2' })]).toEqual([
    'allow: default_confirm',
    'ask session: default_confirm',
    'ask session: default_confirm',
  ]);
  expect(policy.of(CI)).toBe(policy.of(CI));
  expect(policy.sourceOf(CI)?.preferences).toMatchObject({ approvals: 'client', unannotated: 'ask' });
  take({ 'policy.confirm': 'always', approvals: 'gateway' });
  expect([by(CI), by(LOCAL_USER)]).toEqual(['allow: default_confirm', 'ask call: default_confirm']);
  expect(policy.of(CI)).toMatchObject({ approvals: 'gateway', outbound: 'ask' });
  prefer('c1', { 'policy.confirm': 'first', 'policy.outbound': 'refuse' });
  prefer('local', { 'policy.confirm': 'never' });
  expect([by(CI), by(LOCAL_USER)]).toEqual(['ask session: default_confirm', 'allow: default_confirm']);
  expect(policy.of(CI).outbound).toBe('refuse');
  prefer('c1', undefined);
  expect(by(CI)).toBe('ask call: default_confirm');
});

it("a token's preferences do not apply before the store has been read", () => {
  const { records, prefer } = openRecords(false);
  const policy = new CallPolicy({ ...SOURCES, records, rules: [] });
  prefer('c1', { 'policy.confirm': 'never' });
  const identity: Identity = { subject: 'ci', tokenId: 'c1', scopes: [] };
  expect(shownDecision(policy.of(identity).decide({ ...callerWith({ identity }), tool: TOOL }))).toBe(
    'refuse: store_away',
  );
});
