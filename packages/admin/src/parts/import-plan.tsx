import type { ReactNode } from 'react';
import type { ImportItem, ImportPlan, PlanAction } from '../../../gateway/src/api/bundle.ts';
import { HostileText } from './hostile-text.tsx';

type Tense = 'planned' | 'done';

const ACTIONS: Readonly<Record<PlanAction, Readonly<Record<Tense, string>>>> = {
  create: { planned: 'Create', done: 'Created' },
  update: { planned: 'Update', done: 'Updated' },
  unchanged: { planned: 'Same', done: 'Same' },
  kept: { planned: 'Keep', done: 'Kept' },
  omitted: { planned: 'Leave out', done: 'Left out' },
};

export function countPlanChanges({ counts }: ImportPlan): number {
  return counts.create + counts.update;
}

/** What an import does with each item; unchanged items are only counted. */
export function ImportPlanTable({ plan }: { readonly plan: ImportPlan }): ReactNode {
  const tense: Tense = plan.applied ? 'done' : 'planned';
  const shown = plan.items.filter(({ action }) => action !== 'unchanged');
  const same = plan.counts.unchanged;
  return (
    <>
      <p role="status">
        {plan.applied
          ? `Imported: ${countPlanChanges(plan)} ${countPlanChanges(plan) === 1 ? 'change' : 'changes'}.`
          : 'These changes have not been applied yet.'}
        {same > 0 && <span className="quiet"> {same.toLocaleString('en')} items are unchanged.</span>}
      </p>
      <div className="rows">
        {shown.map((item) => (
          <Item key={`${item.kind} ${item.name}`} item={item} tense={tense} />
        ))}
      </div>
    </>
  );
}

function Item({ item, tense }: { readonly item: ImportItem; readonly tense: Tense }): ReactNode {
  const { kind, name, action, changed, before, after, warnings } = item;
  const values = before === undefined && after === undefined ? undefined : `${text(before)} → ${text(after)}`;
  return (
    <div className="plan-item">
      <div className="row">
        <span className={`badge plan-${action}`}>{ACTIONS[action][tense]}</span>
        <span className="quiet">{kind}</span>
        <span className="grow">
          <HostileText text={name} />
        </span>
        <span className="quiet">
          <HostileText text={values ?? changed.join(', ')} />
        </span>
      </div>
      {warnings.map((warning) => (
        <p key={warning} className="warning-line">
          <HostileText text={warning} />
        </p>
      ))}
    </div>
  );
}

function text(value: ImportItem['before']): string {
  return value === undefined || value === null ? 'nothing' : String(value);
}
