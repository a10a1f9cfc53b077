import { Button, NativeSelect, TextInput } from '@mantine/core';
import { Download } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { toCallParameters, type CallFilter } from '../state/calls.ts';

interface CallFiltersProps {
  readonly filter: CallFilter;
  readonly mayExport: boolean;
  readonly onChange: (change: Readonly<Record<string, unknown>>) => void;
}

export function CallFilters({ filter, mayExport, onChange }: CallFiltersProps): ReactNode {
  return (
    <div className="filters">
      <Field
        label="Tool"
        placeholder="server.tool"
        isSearch
        value={filter.tool ?? ''}
        onCommit={(tool) => onChange({ tool })}
      />
      <Field
        label="Client"
        placeholder="Name of the token"
        value={filter.subject ?? ''}
        onCommit={(subject) => onChange({ subject })}
      />
      <NativeSelect
        aria-label="Decision"
        value={filter.decision ?? ''}
        onChange={(event) => onChange({ decision: event.currentTarget.value })}
        data={[
          { value: '', label: 'All decisions' },
          { value: 'allow', label: 'Allowed' },
          { value: 'ask', label: 'Asked' },
          { value: 'refuse', label: 'Refused' },
        ]}
      />
      <NativeSelect
        aria-label="Outcome"
        value={filter.outcome ?? ''}
        onChange={(event) => onChange({ outcome: event.currentTarget.value })}
        data={[
          { value: '', label: 'All outcomes' },
          { value: 'ok', label: 'OK' },
          { value: 'tool_error', label: 'Tool error' },
          { value: 'error', label: 'Error' },
          { value: 'CALL_REFUSED', label: 'Refused' },
          { value: 'APPROVAL_DENIED', label: 'Denied' },
          { value: 'APPROVAL_REQUIRED', label: 'Not approved in time' },
          { value: 'TOOL_UNKNOWN', label: 'Unknown tool' },
        ]}
      />
      <NativeSelect
        aria-label="Time"
        value={filter.hours === undefined ? '' : String(filter.hours)}
        onChange={(event) => onChange({ hours: event.currentTarget.value })}
        data={[
          { value: '', label: 'Any time' },
          { value: '1', label: 'Last hour' },
          { value: '24', label: 'Last day' },
          { value: '168', label: 'Last week' },
        ]}
      />
      {mayExport && (
        <Button
          component="a"
          variant="default"
          download="calls.jsonl"
          href={`/activity/calls/export?${toCallParameters(filter, Date.now()).toString()}`}
          leftSection={<Download size={14} aria-hidden />}
        >
          JSON lines
        </Button>
      )}
    </div>
  );
}

interface FieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly isSearch?: true;
  readonly value: string;
  readonly onCommit: (text: string) => void;
}

/** A text field that is applied on Enter or blur. */
function Field({ label, placeholder, isSearch, value, onCommit }: FieldProps): ReactNode {
  const [draft, setDraft] = useState<string>();
  const commit = (): void => {
    if (draft !== undefined && draft.trim() !== value) onCommit(draft.trim());
    setDraft(undefined);
  };
  return (
    <TextInput
      {...(isSearch && { 'data-search': true, rightSection: <kbd aria-hidden>/</kbd> })}
      aria-label={label}
      placeholder={placeholder}
      maxLength={200}
      value={draft ?? value}
      onChange={(event) => setDraft(event.currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === 'Enter') commit();
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
}
