import { Button, NativeSelect, SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import type { PolicyRule } from '../../../../../gateway/src/api/policy-rule.ts';
import { Failed } from '../../../parts/states.tsx';
import {
  CONDITIONS,
  type Condition,
  HINT_NAMES,
  findRuleFaults,
  type RuleDraft,
} from '../../../state/rule-draft.ts';
import { HINT_LABELS } from '../../../state/tools.ts';
import { EFFECT_LABELS } from './rule-row.tsx';

interface RuleFormProps {
  readonly draft: RuleDraft;
  readonly isNew: boolean;
  /** Whether someone else has changed or deleted the rule. */
  readonly isGone: boolean;
  readonly error: unknown;
  readonly onChange: (draft: RuleDraft) => void;
  readonly onSave: () => void;
  readonly onCancel: () => void;
}

const FIELDS: Readonly<Record<Condition, readonly [label: string, placeholder: string]>> = {
  tool: ['Tools', 'linear.delete_*'],
  server: ['Servers', 'gmail'],
  tag: ['Tags', 'payment'],
  toolset: ['Toolsets', 'triage'],
  token: ['Tokens', 'ci*'],
};

export function RuleForm({ draft, isNew, isGone, error, ...on }: RuleFormProps): ReactNode {
  const faults = findRuleFaults(error);
  const heading = isNew ? 'Add a rule' : 'Edit the rule';
  const isTold = faults.size > 0;
  const set = (part: Partial<RuleDraft>): void => on.onChange({ ...draft, ...part });
  return (
    <form
      className="rule-form"
      aria-label={heading}
      onSubmit={(event) => {
        event.preventDefault();
        on.onSave();
      }}
      onKeyDown={(event) => event.key === 'Escape' && on.onCancel()}
    >
      {isGone && (
        <p className="failed" role="alert">
          Someone else has changed or deleted this rule. Saving adds yours as a new rule.
        </p>
      )}
      <div className="rule-head">
        <SegmentedControl
          aria-label="Effect"
          value={draft.effect}
          onChange={(effect) => set({ effect: effect as PolicyRule['effect'] })}
          data={Object.entries(EFFECT_LABELS).map(([value, label]) => ({ value, label }))}
        />
        <span className="quiet small">calls that meet all of these conditions; without any, every call.</span>
      </div>
      <div className="rule-fields">
        {CONDITIONS.map((condition) => (
          <Textarea
            key={condition}
            label={FIELDS[condition][0]}
            placeholder={`any · ${FIELDS[condition][1]}`}
            rows={1}
            className="patterns"
            error={faults.get(condition)}
            value={draft.patterns[condition]}
            onChange={({ currentTarget: { value } }) =>
              set({ patterns: { ...draft.patterns, [condition]: value } })
            }
          />
        ))}
      </div>
      <p className="quiet small">
        One pattern per line; <code>*</code> stands for any characters.
      </p>
      <Hints draft={draft} fault={faults.get('hints')} set={set} />
      <div className="rule-fields">
        <TextInput
          label="Name"
          placeholder="Optional"
          maxLength={100}
          error={faults.get('name')}
          value={draft.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <TextInput
          label="Because"
          placeholder="Optional; shown when a call needs an approval or is refused"
          maxLength={500}
          error={faults.get('because')}
          value={draft.because}
          onChange={(event) => set({ because: event.currentTarget.value })}
        />
      </div>
      {error !== null && error !== undefined && !isTold && <Failed error={error} />}
      <div className="buttons">
        <Button type="submit">{isNew || isGone ? 'Add' : 'Save'}</Button>
        <Button variant="default" onClick={on.onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

interface HintsProps {
  readonly draft: RuleDraft;
  readonly fault: string | undefined;
  readonly set: (part: Pick<RuleDraft, 'hints'>) => void;
}

function Hints({ draft: { hints }, fault, set }: HintsProps): ReactNode {
  const id = useId();
  return (
    <fieldset className="rule-hints" aria-describedby={id}>
      <legend>Hints</legend>
      <div className="rule-fields">
        {HINT_NAMES.map((hint) => {
          const { [hint]: now, ...others } = hints;
          return (
            <NativeSelect
              key={hint}
              label={HINT_LABELS[hint]}
              value={String(now ?? '')}
              onChange={({ currentTarget: { value } }) =>
                set({ hints: value === '' ? others : { ...others, [hint]: value === 'true' } })
              }
              data={[
                { value: '', label: 'any' },
                { value: 'true', label: 'yes' },
                { value: 'false', label: 'no' },
              ]}
            />
          );
        })}
      </div>
      <p className="quiet small" id={id}>
        A hint without a trusted source never satisfies a rule that allows. Rules that ask or refuse apply
        regardless.
      </p>
      {fault !== undefined && <p className="small bad">{fault}</p>}
    </fieldset>
  );
}
