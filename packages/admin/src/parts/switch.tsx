import type { ReactNode } from 'react';

interface SwitchProps {
  readonly label: string;
  readonly describedBy?: string | undefined;
  readonly isOn: boolean;
  readonly isDisabled: boolean;
  /** Whether the keys that move between rows stop here. */
  readonly isInRow?: boolean;
  readonly onChange: (isOn: boolean) => void;
}

/** A plain input instead of a component of the library: long lists create their rows again while they scroll. */
export function Switch({ label, describedBy, isOn, isDisabled, isInRow, onChange }: SwitchProps): ReactNode {
  return (
    <input
      type="checkbox"
      role="switch"
      {...(isInRow === true && { 'data-row': true })}
      className="switch"
      aria-label={label}
      aria-describedby={describedBy}
      checked={isOn}
      disabled={isDisabled}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}
