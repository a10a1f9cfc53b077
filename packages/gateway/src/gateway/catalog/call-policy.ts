import { setTimeout as sleep } from 'node:timers/promises';
import { compilePolicy, type PolicySource } from '../../core/policy/compile-policy.ts';
import { compileHidingRules, type HidingRules } from '../../core/policy/hidden-tools.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { POLICY_SETTINGS, getPolicyPreferences } from '../../core/policy/policy-settings.ts';
import type { PolicyRule } from '../../core/policy/rule.ts';
import { isTokenPreference, getPreferencesId } from '../../core/policy/token-preferences.ts';
import { POLICY_RULES, type RecordKind, STOPS, type TokenPreferencesRecord } from '../../core/record.ts';
import { compileStops, type FindStop, type Stop } from '../../core/stops.ts';
import { isStorable, resolveSettings, type SettingSources } from '../../core/resolve-settings.ts';
import type { Settings } from '../../core/settings.ts';
import type { Identity } from '../../core/subject.ts';
import type { RecordKey } from '../ports/records.ts';
import type { LivePolicy } from './call-deps.ts';
import type { RecordReplica } from './record-replica.ts';
import { Listeners } from '../../core/listeners.ts';

export interface CallPolicyOptions extends Omit<SettingSources, 'stored'> {
  readonly records: Pick<
    RecordReplica,
    'isKnown' | 'isFresh' | 'unreadable' | 'ready' | 'readAgain' | 'settings' | 'get' | 'stops' | 'onChange'
  >;
  /** Whether preferences and rules may be stored. False if no store existed yet. */
  readonly isStored: boolean;
  /** The rules of the config file. */
  readonly rules: readonly PolicyRule[];
}

/** Maximum wait in ms of a call for records that are too old. */
const MAX_READ_MS = 2_000;

/** The policy of this process. It follows the config file, and the rules and preferences in the store. */
export class CallPolicy implements LivePolicy {
  readonly #options: CallPolicyOptions;
  #rules: readonly PolicyRule[];
  #current: Policy | undefined;
  /** What the current policy was compiled from. */
  #source: PolicySource | undefined;
  #hidden: HidingRules = () => undefined;
  #findStop: FindStop | undefined;
  /** What `#hidden` was compiled from. */
  #hidingRules: readonly PolicyRule[] = [];
  readonly #listeners = new Listeners();
  #labelIdleMs = Infinity;
  #reading: Promise<unknown> | undefined;
  /** Policies of callers with preferences of their own, by token id; compiled on their first call. */
  readonly #own = new Map<string, PolicySource & { readonly policy: Policy }>();

  constructor(options: CallPolicyOptions) {
    this.#options = options;
    this.#rules = options.rules;
    this.#compile();
    options.records.onChange(({ records, isFirst }) => {
      for (const { kind, id } of records) if (kind === 'token_preferences') this.#own.delete(id);
      if (isFirst || records.some(({ kind }) => DECISIVE_KINDS.has(kind))) this.#compile();
    });
  }

  get current(): Policy {
    // A store without records changes nothing when it is read.
    if (this.#current === undefined) this.#compile();
    if (!this.#isFresh) return UNREAD;
    return this.#current ?? (this.#options.records.isKnown ? UNREADABLE : UNREAD);
  }

  of(identity: Identity): Policy {
    const { current } = this;
    if (current === UNREAD || current === UNREADABLE) return current;
    const id = getPreferencesId(identity);
    const own = this.#ownOf(identity)?.policy;
    if (own !== undefined || id === undefined) return own ?? current;
    // The caller's own preferences may be stricter.
    return this.#options.records.unreadable([{ kind: 'token_preferences', id }]) === undefined
      ? current
      : UNREADABLE;
  }

  /** Until the store is read, the rules of the config file and the cached ones count. */
  readonly hidden: HidingRules = (caller) => this.#hidden(caller);

  /** Also while the store cannot be read, and for requests that call no tool. */
  get findStop(): FindStop | undefined {
    return this.#findStop;
  }

  readonly onRules = (listener: () => void): void => void this.#listeners.add(listener);

  /** What the caller's policy was compiled from. Undefined if the store could not be read. */
  sourceOf(identity: Identity): PolicySource | undefined {
    return this.#source && (this.#ownOf(identity) ?? this.#source);
  }

  /** How long labels count. Infinity while that is unknown. */
  get labelIdleMs(): number {
    return this.#labelIdleMs;
  }

  /** The store has to be read first. If that fails, the next call tries again. */
  get pending(): LivePolicy['pending'] {
    const { records } = this.#options;
    if (!this.#isFresh)
      return Promise.race([this.#readAgain(), sleep(MAX_READ_MS, undefined, { ref: false })]);
    return this.#isKnown ? undefined : records.ready();
  }

  /** Calls that wait share a read. */
  #readAgain(): Promise<unknown> {
    this.#reading ??= this.#options.records.readAgain().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /** Otherwise another process may have changed rules or disabled tools, unseen. */
  get #isFresh(): boolean {
    return !this.#options.isStored || this.#options.records.isFresh;
  }

  /** The rules of the config file. */
  get configFileRules(): readonly PolicyRule[] {
    return this.#rules;
  }

  /** Replaces the rules of the config file. Returns whether they differ. */
  followRules(rules: readonly PolicyRule[]): boolean {
    this.#rules = rules;
    return this.#compile();
  }

  get #isKnown(): boolean {
    const { isStored, records } = this.#options;
    if (!isStored) return true;
    // A rule or a preference that refuses may be among those that this program cannot read.
    return records.isKnown && records.unreadable(DECISIVE) === undefined;
  }

  get #allRules(): readonly PolicyRule[] {
    const stored = this.#options.records.get(POLICY_RULES.kind, POLICY_RULES.id);
    return stored === undefined ? this.#rules : [...this.#rules, ...stored.rules];
  }

  get stops(): readonly Stop[] {
    return this.#options.records.stops();
  }

  /** Undefined if the caller has no preferences of its own. */
  #ownOf(identity: Identity): (PolicySource & { readonly policy: Policy }) | undefined {
    const id = getPreferencesId(identity);
    const record = id === undefined ? undefined : this.#options.records.get('token_preferences', id);
    if (id === undefined || record === undefined) return undefined;
    const known = this.#own.get(id);
    if (known !== undefined) return known;
    const settings = this.#settings(record.preferences);
    if (settings === undefined) return undefined;
    // Tokens cannot override who confirms calls.
    const source = { preferences: getPolicyPreferences(settings), rules: this.#allRules, stops: this.stops };
    const own = { ...source, policy: compilePolicy(source) };
    this.#own.set(id, own);
    return own;
  }

  /** The settings in force, with a token's own preferences instead of the stored ones. */
  #settings(own: TokenPreferencesRecord['preferences']): Settings | undefined {
    const { records, env, file } = this.#options;
    const ofToken = Object.entries(own).filter(([key]) => isTokenPreference(key));
    const stored = [...records.settings(), ...ofToken].filter(([key, value]) => isStorable(key, value));
    const resolved = resolveSettings({ env, file, stored: new Map(stored) });
    // Environment and file were checked at the start, and the store was just now.
    return resolved.ok ? resolved.value.settings : undefined;
  }

  #compile(): boolean {
    this.#compileHidden();
    this.#findStop = this.stops.length === 0 ? undefined : compileStops(this.stops);
    // The operator's preferences may be stricter than the defaults.
    if (!this.#isKnown) return false;
    const settings = this.#settings({});
    if (settings === undefined) return false;
    this.#labelIdleMs = settings['policy.labelIdleMs'];
    const source = { preferences: getPolicyPreferences(settings), rules: this.#allRules, stops: this.stops };
    if (JSON.stringify(source) === JSON.stringify(this.#source)) return false;
    this.#source = source;
    this.#own.clear();
    this.#current = compilePolicy(source);
    return true;
  }

  #compileHidden(): void {
    const rules = this.#allRules;
    if (JSON.stringify(rules) === JSON.stringify(this.#hidingRules)) return;
    this.#hidingRules = rules;
    this.#hidden = compileHidingRules(rules);
    this.#listeners.notify();
  }
}

/** The records that decide on calls of everyone. */
const DECISIVE: readonly RecordKey[] = [
  POLICY_RULES,
  STOPS,
  ...Object.keys(POLICY_SETTINGS).map((id): RecordKey => ({ kind: 'setting', id })),
];

const DECISIVE_KINDS: ReadonlySet<RecordKind> = new Set(DECISIVE.map(({ kind }) => kind));

/** In force while the store cannot be read. */
const UNREAD: Policy = refuseAllFor('store_away');
/** In force if rules or preferences in the store are damaged or of a newer version. */
const UNREADABLE: Policy = refuseAllFor('preferences_unknown');

/** Assay's own tools report the reason themselves. */
function refuseAllFor(code: 'store_away' | 'preferences_unknown'): Policy {
  return {
    approvals: 'gateway',
    approver: 'inbox',
    showWarnings: false,
    outbound: 'refuse',
    enforcesLabels: 'all',
    dependsOnLabels: () => false,
    decide: ({ tool }) => (tool?.server === undefined ? undefined : { kind: 'refuse', reasons: [{ code }] }),
  };
}
