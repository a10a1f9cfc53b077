import { TextInput } from '@mantine/core';
import { Search } from 'lucide-react';
import type { ReactNode } from 'react';

interface SearchBoxProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** Called for Enter. */
  readonly onEnter?: (() => void) | undefined;
}

/** The search of a page. `/` focuses it, Escape leaves it, Enter may open the first match. */
export function SearchBox({ label, value, onChange, onEnter }: SearchBoxProps): ReactNode {
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
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
        else if (event.key === 'Enter' && !event.nativeEvent.isComposing) onEnter?.();
      }}
    />
  );
}
