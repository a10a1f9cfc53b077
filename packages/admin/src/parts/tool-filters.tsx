import { Button, NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ToolSearch } from '../state/tool-search.ts';
import { HINT_LABELS, type Risk } from '../state/tools.ts';
import { RISK_LABELS } from './risk-badge.tsx';

/** All filters except the text. */
const FILTERS = ['risk', 'hint', 'lint', 'drift', 'server', 'toolset'] as const;

const RULES: Readonly<Record<string, string>> = {
  contradiction: 'Finding: contradiction',
  'not-boolean': 'Finding: not a boolean',
  'telling-words': 'Finding: telling words',
  'missing-hints': 'Finding: missing hints',
  'hidden-text': 'Finding: hidden text',
};

interface ToolFiltersProps {
  readonly search: ToolSearch;
  readonly servers: readonly string[];
  readonly toolsets: readonly string[];
  readonly onChange: (change: Partial<Record<keyof ToolSearch, unknown>>) => void;
}

export function ToolFilters({ search, servers, toolsets, onChange }: ToolFiltersProps): ReactNode {
  const select = (name: keyof ToolSearch, label: string, data: readonly Choice[]): ReactNode => (
    <NativeSelect
      aria-label={label}
      value={search[name] ?? ''}
      data-set={search[name] !== undefined}
      onChange={(event) => onChange({ [name]: event.currentTarget.value })}
      data={data}
    />
  );
  return (
    <div className="tool-filters" role="group" aria-label="Filters">
      {select('group', 'Group by', [choice('', 'By server'), choice('risk', 'By risk')])}
      {select('risk', 'Risk', [
        choice('', 'All risks'),
        ...(Object.keys(RISK_LABELS) as Risk[]).map((risk) => choice(risk, RISK_LABELS[risk])),
      ])}
      {select('hint', 'Hint', [
        choice('', 'All hints'),
        ...Object.entries(HINT_LABELS).flatMap(([hint, label]) => [
          choice(`${hint}:yes`, `${label}: yes`),
          choice(`${hint}:no`, `${label}: no`),
        ]),
      ])}
      {select('lint', 'Findings', [
        choice('', 'Any finding'),
        choice('any', 'With findings'),
        choice('none', 'Without findings'),
        ...Object.entries(RULES).map(([rule, label]) => choice(rule, label)),
      ])}
      {select('drift', 'Review', [
        choice('', 'Any change'),
        choice('any', 'Changed, to review'),
        choice('dangerous', 'Changed dangerously'),
        choice('none', 'Not changed'),
      ])}
      {select('server', 'Server', [
        choice('', 'All servers'),
        ...withCurrent(servers, search.server).map((name) => choice(name, name)),
      ])}
      {select('toolset', 'Toolset', [
        choice('', 'All toolsets'),
        ...withCurrent(toolsets, search.toolset).map((name) => choice(name, name)),
      ])}
      {FILTERS.some((name) => search[name] !== undefined) && (
        <Button
          variant="subtle"
          aria-label="Clear filters"
          onClick={() => onChange(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
        >
          Clear
        </Button>
      )}
    </div>
  );
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

function choice(value: string, label: string): Choice {
  return { value, label };
}

/** The name in the URL is an option even before the names are loaded, and if it no longer exists. */
function withCurrent(names: readonly string[], current: string | undefined): readonly string[] {
  return current === undefined || names.includes(current) ? names : [current, ...names];
}
