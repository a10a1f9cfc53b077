import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState, type ReactNode } from 'react';
import { toolsQuery, type ToolRow } from '../../../state/tools.ts';

const MAX_SHOWN = 50;
const NO_ROWS: readonly ToolRow[] = [];

interface ToolSelectProps {
  /** The id of a tool; empty: none. */
  readonly value: string;
  readonly onChange: (id: string) => void;
}

/** Selects a tool, by words of its title, name or description. */
export function ToolSelect({ value, onChange }: ToolSelectProps): ReactNode {
  const { data: rows = NO_ROWS } = useQuery(toolsQuery);
  const [text, setText] = useState('');
  const chosen = rows.find(({ id }) => id === value);
  const found = useMemo(() => {
    // Before anything is typed, the field contains the name of the chosen tool.
    const words = text === chosen?.namespacedName ? [] : text.toLowerCase().split(/\s+/);
    const fits = (row: ToolRow): boolean =>
      words.every((word) => row.text.includes(word) || row.namespacedName.toLowerCase().includes(word));
    return rows.filter(fits).slice(0, MAX_SHOWN);
  }, [rows, text, chosen]);
  // The chosen tool must be among the options, even if the search does not find it.
  const isHidden = chosen !== undefined && !found.includes(chosen);
  const options = isHidden ? [...found, chosen] : found;
  return (
    <Select
      label="Tool"
      placeholder="Search tools…"
      searchable
      allowDeselect={false}
      selectFirstOptionOnChange
      maxDropdownHeight={280}
      nothingFoundMessage="No tools match."
      value={value === '' ? null : value}
      onChange={(id) => onChange(id ?? '')}
      searchValue={text}
      onSearchChange={setText}
      data={options.map(({ id, namespacedName }) => ({ value: id, label: namespacedName }))}
      filter={({ options: all }) => (isHidden ? all.slice(0, -1) : all)}
    />
  );
}
