import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus, Scale } from 'lucide-react';
import type { ReactNode } from 'react';
import type { PolicyRuleList, PolicyRule } from '../../../../../gateway/src/api/policy-rule.ts';
import { Empty, Failed, LoadingRows } from '../../../parts/states.tsx';
import type { Tagged } from '../../../state/api.ts';
import { useDraft } from '../../../state/drafts.ts';
import { offerUndo, rulesQuery, useChangeRules } from '../../../state/policy.ts';
import { toRuleDraft, isSameRule, toRule, type RuleDraft } from '../../../state/rule-draft.ts';
import { useIsAdmin } from '../../../state/session.ts';
import { DecisionTrial } from './decision-trial.tsx';
import { RuleForm } from './rule-form.tsx';
import { RuleRow } from './rule-row.tsx';

export function RulesSection(): ReactNode {
  const rules = useQuery(rulesQuery);
  return (
    <>
      {rules.isPending && <LoadingRows count={4} />}
      {rules.isError && <Failed error={rules.error} onRetry={() => void rules.refetch()} />}
      {rules.data !== undefined && <Editor seen={rules.data} />}
    </>
  );
}

interface Editing {
  /** The rule as it was when opened. Undefined for a new one. */
  readonly original: PolicyRule | undefined;
  readonly draft: RuleDraft;
}

const NEW: Editing = { original: undefined, draft: toRuleDraft({ effect: 'ask' }) };

function Editor({ seen }: { readonly seen: Tagged<PolicyRuleList> }): ReactNode {
  const { rules, configFileRules } = seen.value;
  const client = useQueryClient();
  const isAdmin = useIsAdmin();
  const change = useChangeRules();
  const editing = useDraft<Editing | undefined>('policy rule', undefined);
  const { original, draft } = editing.value ?? NEW;
  const isEdited = (rule: PolicyRule): boolean => original !== undefined && isSameRule(rule, original);
  const isOpen = editing.value !== undefined && !change.isPending;
  const isGone = original !== undefined && !change.isPending && !rules.some(isEdited);
  const open = (next: Editing): void => {
    change.reset();
    editing.set(next);
  };
  const close = (): void => {
    change.reset();
    editing.discard();
  };
  const save = (): void => {
    const saved = toRule(draft);
    const isNew = original === undefined || isGone;
    const next = isNew ? [...rules, saved] : rules.map((rule) => (isEdited(rule) ? saved : rule));
    const onSuccess = (): void => {
      editing.discard();
      const index = isNew ? rules.length : rules.findIndex(isEdited);
      offerUndo(client, { ...(!isNew && { before: original }), after: saved, index });
    };
    change.mutate({ seen, rules: next }, { onSuccess });
  };
  const remove = (index: number, rule: PolicyRule): void => {
    const onSuccess = (): void => offerUndo(client, { before: rule, index });
    change.mutate({ seen, rules: rules.toSpliced(index, 1) }, { onSuccess });
  };
  const form = isOpen && (
    <RuleForm
      draft={draft}
      isNew={original === undefined}
      isGone={isGone}
      error={change.error}
      onChange={(next) => editing.set({ original, draft: next })}
      onSave={save}
      onCancel={close}
    />
  );
  return (
    <>
      <Intro mayAdd={isAdmin && !isOpen && !change.isPending} onAdd={() => open(NEW)} />
      {!isOpen && change.isError && <Failed error={change.error} />}
      {(original === undefined || isGone) && form}
      {rules.length + configFileRules.length === 0 && !isOpen && <NoRules />}
      <div className="rows" role="list" aria-label="Rules">
        {configFileRules.map((rule, at) => (
          <RuleRow key={`file ${at}`} rule={rule} number={at + 1} fixedBy={`policy.rules[${at}]`} />
        ))}
        {rules.map((rule, at) =>
          isOpen && !isGone && isEdited(rule) ? (
            <div key={at} role="listitem">
              {form}
            </div>
          ) : (
            <RuleRow
              key={at}
              rule={rule}
              number={configFileRules.length + at + 1}
              isBusy={change.isPending}
              {...(isAdmin && {
                onEdit: () => open({ original: rule, draft: toRuleDraft(rule) }),
                onDelete: () => remove(at, rule),
              })}
            />
          ),
        )}
      </div>
      <DecisionTrial list={seen.value} isUnsaved={editing.value !== undefined} />
    </>
  );
}

function Intro({ mayAdd, onAdd }: { readonly mayAdd: boolean; readonly onAdd: () => void }): ReactNode {
  return (
    <div className="filters">
      <p className="quiet grow">
        A rule applies to calls that meet all of its conditions. Refuse wins over ask, and ask over allow; the
        order of rules does not matter.
      </p>
      {mayAdd && (
        <Button leftSection={<Plus size={14} aria-hidden />} onClick={onAdd}>
          Add a rule
        </Button>
      )}
    </div>
  );
}

function NoRules(): ReactNode {
  return (
    <Empty icon={<Scale size={32} aria-hidden />} title="No rules yet">
      Calls are decided by the tool’s hints and your preferences. A rule allows, asks for or refuses calls by
      tool, server, tag, toolset, token or hint.
    </Empty>
  );
}
