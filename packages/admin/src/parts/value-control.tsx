import { NativeSelect, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { PreferenceKind, PreferenceValue } from '../../../gateway/src/api/preference.ts';
import { Switch } from './switch.tsx';

interface ValueControlProps {
  readonly label: string;
  readonly describedBy?: string;
  readonly kind: PreferenceKind;
  readonly value: PreferenceValue;
  readonly isDisabled: boolean;
  readonly onChange: (value: PreferenceValue) => void;
}

/** A switch, a list of choices, or a field that is applied on Enter or blur. */
export function ValueControl(props: ValueControlProps): ReactNode {
  const { label, describedBy, kind, value, isDisabled, onChange } = props;
  if (kind.type === 'flag')
    return <Switch isInRow isOn={value === true} {...{ label, describedBy, isDisabled, onChange }} />;
  if (kind.type === 'choice')
    return (
      <NativeSelect
        data-row
        aria-label={label}
        aria-describedby={describedBy}
        value={String(value)}
        disabled={isDisabled}
        data={[...kind.of]}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return <Field {...props} kind={kind} />;
}

interface FieldProps extends ValueControlProps {
  readonly kind: Extract<PreferenceKind, { readonly type: 'whole' | 'text' }>;
}

function Field({ label, describedBy, kind, value, isDisabled, onChange }: FieldProps): ReactNode {
  // Input is kept when new data arrives.
  const [draft, setDraft] = useState<string>();
  const fault = draft === undefined || draft === String(value) ? undefined : faultIn(draft, kind);
  const commit = (): void => {
    if (draft === undefined || fault !== undefined) return;
    setDraft(undefined);
    if (draft !== String(value)) onChange(kind.type === 'whole' ? Number(draft) : draft);
  };
  return (
    <TextInput
      data-row
      aria-label={label}
      aria-describedby={describedBy}
      inputMode={kind.type === 'whole' ? 'numeric' : undefined}
      placeholder={kind.type === 'text' ? kind.range : undefined}
      value={draft ?? String(value)}
      error={fault}
      disabled={isDisabled}
      onChange={(event) => setDraft(event.currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === 'Enter') commit();
        if (event.key !== 'Escape') return;
        setDraft(undefined);
        event.currentTarget.blur();
      }}
    />
  );
}

function faultIn(draft: string, kind: FieldProps['kind']): string | undefined {
  if (kind.type === 'text') return undefined;
  const number = Number(draft);
  const isFit = draft.trim() !== '' && Number.isInteger(number) && number >= kind.min && number <= kind.max;
  const format = (bound: number): string => bound.toLocaleString('en');
  return isFit ? undefined : `A whole number from ${format(kind.min)} to ${format(kind.max)}`;
}
