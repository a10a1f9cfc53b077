import { TextInput } from '@mantine/core';
import { Search } from 'lucide-react';
import type { ReactNode } from 'react';

interface SearchBoxProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** The search of a page. `/` focuses it, Escape leaves it. */
export function SearchBox({ label, value, onChange }: SearchBoxProps): ReactNode {
  return (
    <TextInput
      data-search
      aria-label={label}
      placeholder="Search…"
      leftSection={<Search size={14} aria-hidden />}
      rightSection={<kbd aria-hidden>/</kbd>}
      maxLength={200}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
    />
  );
}
