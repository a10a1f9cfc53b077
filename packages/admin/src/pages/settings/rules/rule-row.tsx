import { Button } from '@mantine/core';
import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import type { PolicyRule } from '../../../../../gateway/src/api/policy-rule.ts';
import { HostileText } from '../../../parts/hostile-text.tsx';
import { listConditions } from '../../../state/rule-draft.ts';

export const EFFECT_LABELS: Readonly<Record<PolicyRule['effect'], string>> = {
  allow: 'Allow',
  ask: 'Ask',
  refuse: 'Refuse',
};

interface RuleRowProps {
  readonly rule: PolicyRule;
  /** Its number among all rules. Decisions refer to a rule without a name by it. */
  readonly number: number;
  /** The member of the config file that defines it. */
  readonly fixedBy?: string;
  readonly isBusy?: boolean;
  readonly onEdit?: () => void;
  readonly onDelete?: () => void;
}

export function RuleRow({ rule, number, fixedBy, isBusy, onEdit, onDelete }: RuleRowProps): ReactNode {
  const { effect, name, because } = rule;
  const label = name ?? `#${number}`;
  const conditions = listConditions(rule);
  return (
    <div className="row rule" role="listitem" aria-label={`Rule ${label}`} data-fixed={fixedBy !== undefined}>
      <span className={`badge decision-${effect}`}>{EFFECT_LABELS[effect]}</span>
      <div className="rule-text">
        <strong>
          <HostileText text={label} />
        </strong>
        <span className="conditions">
          {conditions.length === 0 && <span className="quiet">every call</span>}
          {conditions.map(([what, value]) => (
            <span key={what}>
              <span className="quiet">{what}</span>{' '}
              <code>
                <HostileText text={value} />
              </code>
            </span>
          ))}
        </span>
        {because !== undefined && (
          <p className="quiet small">
            <HostileText text={because} />
          </p>
        )}
        {fixedBy !== undefined && (
          <p className="standing">
            <Lock size={13} aria-hidden /> Fixed by <code>{fixedBy}</code> in the config file.
          </p>
        )}
      </div>
      {onEdit !== undefined && (
        <Button size="compact-xs" variant="default" data-row disabled={isBusy === true} onClick={onEdit}>
          Edit
        </Button>
      )}
      {onDelete !== undefined && (
        <Button size="compact-xs" variant="default" disabled={isBusy === true} onClick={onDelete}>
          Delete
        </Button>
      )}
    </div>
  );
}
