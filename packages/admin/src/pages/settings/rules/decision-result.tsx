import type { ReactNode } from 'react';
import type { Decision } from '../../../../../gateway/src/api/decision.ts';
import type { PolicyRuleList } from '../../../../../gateway/src/api/policy-rule.ts';
import { HostileText } from '../../../parts/hostile-text.tsx';
import { HINT_LABELS } from '../../../state/tools.ts';
import { EFFECT_LABELS } from './rule-row.tsx';

interface DecisionResultProps {
  readonly decision: Decision;
  readonly list: PolicyRuleList;
}

/** Shows a decision, the reasons, and everything that it is based on. */
export function DecisionResult({ decision, list }: DecisionResultProps): ReactNode {
  const { reasons, warnings, hints, labels, tags, confirm } = decision;
  return (
    <div className="verdict" role="status" aria-label="Decision">
      <p>
        <span className={`badge decision-${decision.decision}`}>{EFFECT_LABELS[decision.decision]}</span>{' '}
        <strong>{meaningOf(decision)}</strong>
      </p>
      {decision.decision === 'ask' && decision.isCarriedOut && (
        <p className="quiet small">
          <code>approvals</code> is <code>client</code>, so Assay sends the call, and the client asks its user
          according to its own settings.
        </p>
      )}
      <dl className="facts plain">
        <dt>Why</dt>
        <dd>
          <ol className="reasons">
            {reasons.map(({ text }, at) => (
              <li key={at}>
                <HostileText text={text} />
              </li>
            ))}
          </ol>
        </dd>
        <dt>Rules</dt>
        <dd>{rulesText(decision, list)}</dd>
        <dt>Hints</dt>
        <dd>
          {hints.map(({ hint, value, isKnown, reason }) => (
            <div key={hint}>
              {HINT_LABELS[hint]} {value ? 'yes' : 'no'}{' '}
              <span className="quiet small">
                (<HostileText text={reason} />
                {isKnown ? '' : '; rules that allow cannot rely on it'})
              </span>
            </div>
          ))}
        </dd>
        {warnings.length > 0 && <Fact name="Warnings" text={warnings.join('; ')} />}
        {labels.length > 0 && <Fact name="The caller has received" text={labels.join(', ')} />}
        {tags.length > 0 && <Fact name="Tags" text={tags.join(', ')} />}
        {confirm !== undefined && <Fact name="Confirm of the tool" text={confirm} />}
      </dl>
    </div>
  );
}

function Fact({ name, text }: { readonly name: string; readonly text: string }): ReactNode {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <HostileText text={text} />
      </dd>
    </>
  );
}

function meaningOf({ decision, per }: Decision): string {
  if (decision === 'allow') return 'It is called without an approval.';
  if (decision === 'refuse') return 'It is not called.';
  if (per === 'server') return 'A person approves the first such call to its server in a session.';
  return per === 'session'
    ? 'A person approves the first call of a session.'
    : 'A person approves every call.';
}

function rulesText({ rules }: Decision, { configFileRules }: PolicyRuleList): ReactNode {
  const applied = rules.flatMap((rule, at) => (rule.applies ? [{ ...rule, at }] : []));
  if (rules.length === 0) return <span className="quiet">There are none.</span>;
  if (applied.length === 0)
    return <span className="quiet">None of {rules.length.toLocaleString('en')} applies.</span>;
  return applied.map(({ rule, effect, at }) => (
    <div key={at}>
      <span className={`badge decision-${effect}`}>{EFFECT_LABELS[effect]}</span> <HostileText text={rule} />{' '}
      {at < configFileRules.length && <span className="quiet small">in the config file</span>}
    </div>
  ));
}
