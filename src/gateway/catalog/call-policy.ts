import { compilePolicy, type PolicySource } from '../../core/policy/compile-policy.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { POLICY_SETTINGS, type PolicySettings, preferencesOf } from '../../core/policy/policy-settings.ts';
import type { PolicyRule } from '../../core/policy/rule.ts';
import { fixOf, isStorable, resolveSettings, type SettingSources } from '../../core/resolve-settings.ts';
import type { LivePolicy } from './call-deps.ts';
import type { RecordReplica } from './record-replica.ts';

export interface CallPolicyOptions extends Omit<SettingSources, 'stored'> {
  readonly records: Pick<RecordReplica, 'isKnown' | 'ready' | 'settings' | 'onChange'>;
  /** Whether preferences may be stored: false where there was no store yet. */
  readonly isStored: boolean;
  readonly rules: readonly PolicyRule[];
}

/** The policy of this process. It follows the rules of the config file and the preferences in the store. */
export class CallPolicy implements LivePolicy {
  readonly #options: CallPolicyOptions;
  #rules: readonly PolicyRule[];
  #current: Policy;
  readonly #needsStore: boolean;
  /** What the current policy was compiled from. */
  #source: PolicySource | undefined;

  constructor(options: CallPolicyOptions) {
    this.#options = options;
    this.#rules = options.rules;
    this.#current = UNKNOWN;
    const keys = Object.keys(POLICY_SETTINGS) as (keyof PolicySettings)[]; // the keys of the table itself
    this.#needsStore = options.isStored && keys.some((key) => fixOf(key, options) === undefined);
    this.#compile();
    options.records.onChange(({ records, isFirst }) => {
      if (isFirst || records.some(({ kind }) => kind === 'setting')) this.#compile();
    });
  }

  get current(): Policy {
    // A store without records changes nothing when it is read.
    if (this.#current === UNKNOWN) this.#compile();
    return this.#current;
  }

  /** What the current policy was compiled from. Undefined if the store could not be read. */
  get source(): PolicySource | undefined {
    return this.#source;
  }

  /** The store has to be read first. If that fails, the next call tries again. */
  get pending(): LivePolicy['pending'] {
    return this.#isKnown ? undefined : this.#options.records.ready();
  }

  /** Replaces the rules. Returns whether they differ. */
  followRules(rules: readonly PolicyRule[]): boolean {
    this.#rules = rules;
    return this.#compile();
  }

  get #isKnown(): boolean {
    return !this.#needsStore || this.#options.records.isKnown;
  }

  #compile(): boolean {
    const { records, env, file } = this.#options;
    // What operators prefer may be stricter than the defaults.
    if (!this.#isKnown) return false;
    const stored = new Map([...records.settings()].filter(([key, value]) => isStorable(key, value)));
    const resolved = resolveSettings({ env, file, stored });
    // Environment and file were checked at the start, and the store was just now.
    if (!resolved.ok) return false;
    const source = { preferences: preferencesOf(resolved.value.settings), rules: this.#rules };
    if (JSON.stringify(source) === JSON.stringify(this.#source)) return false;
    this.#source = source;
    this.#current = compilePolicy(source);
    return true;
  }
}

/** While the store could not be read. Assay's own tools say so themselves. */
const UNKNOWN: Policy = {
  approvals: 'gateway',
  showWarnings: false,
  decide: ({ tool }) =>
    tool?.server === undefined ? undefined : { kind: 'refuse', reasons: [{ code: 'preferences_unknown' }] },
};
