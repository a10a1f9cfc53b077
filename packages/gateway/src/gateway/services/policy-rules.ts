import { withoutUndefined } from '@assay-mcp/kit/json-object';
import type { PolicyRuleList } from '../../api/policy-rule.ts';
import type { AuditTarget } from '../../core/audit-event.ts';
import type { PolicyRule } from '../../core/policy/rule.ts';
import { POLICY_RULES } from '../../core/record.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { RecordReplica } from '../catalog/record-replica.ts';

export interface PolicyRulesOptions {
  readonly records: RecordReplica;
  readonly configFileRules: () => readonly PolicyRule[];
  readonly nowMs: () => number;
}

export const RULES_TARGET: AuditTarget = { kind: 'rules', id: POLICY_RULES.id, name: 'policy.rules' };

/** The rules by which calls are decided. */
export class PolicyRules {
  readonly #options: PolicyRulesOptions;

  constructor(options: PolicyRulesOptions) {
    this.#options = options;
  }

  /** STORE_UNAVAILABLE, RECORD_UNREADABLE */
  async view(): Promise<Result<PolicyRuleList, Refusal>> {
    const { records } = this.#options;
    const read = await records.readAgain();
    if (!read.ok) return read;
    // Showing an empty list instead of one that cannot be read would invite overwriting it.
    const unreadable = records.unreadable([POLICY_RULES]);
    return unreadable === undefined ? ok(this.#current()) : err(unreadable);
  }

  /** Replaces the stored rules; they take effect at once, in all processes on the store. */
  async replace(
    rules: readonly PolicyRule[],
    { by, unmet }: { readonly by: string; readonly unmet: (before: PolicyRuleList) => Refusal | undefined },
  ): Promise<Result<PolicyRuleList, Refusal>> {
    const { records, nowMs } = this.#options;
    const done = await records.change(() => {
      const current = this.#current();
      const fault = unmet(current);
      if (fault !== undefined) return err(fault);
      const before = current.rules;
      if (JSON.stringify(before) === JSON.stringify(rules))
        return ok({ value: undefined, changes: [], expected: [POLICY_RULES] });
      return ok({
        value: undefined,
        changes: [{ ...POLICY_RULES, body: rules.length === 0 ? undefined : { rules } }],
        audit: [
          { atMs: nowMs(), subject: by, action: 'policy.rules', target: RULES_TARGET, before, after: rules },
        ],
      });
    });
    return done.ok ? ok(this.#current()) : done;
  }

  #current(): PolicyRuleList {
    const { records, configFileRules } = this.#options;
    const rules = records.get(POLICY_RULES.kind, POLICY_RULES.id)?.rules ?? [];
    return { rules: rules.map(withoutUndefined), configFileRules: configFileRules().map(withoutUndefined) };
  }
}
