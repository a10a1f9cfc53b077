import { Button } from '@mantine/core';
import { Lock } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import type { Preference, PreferenceValue } from '../../../gateway/src/api/preference.ts';
import { formatUnits, getPreferenceTitle } from '../state/preferences.ts';
import { Failed } from './states.tsx';
import { ValueControl } from './value-control.tsx';

interface PreferenceRowProps {
  readonly preference: Preference;
  readonly mayChange: boolean;
  readonly isBusy: boolean;
  readonly error: unknown;
  /** Null returns to the default. */
  readonly onChange: (value: PreferenceValue | null) => void;
}

/** A setting: what it does, its value, what determines it and when it takes effect. */
export function PreferenceRow({
  preference,
  mayChange,
  isBusy,
  error,
  onChange,
}: PreferenceRowProps): ReactNode {
  const { key, value, about, kind } = preference;
  const id = useId();
  const isFixed = preference.isFixed || preference.changedBy === 'startup';
  const hint = formatUnits(key, value);
  const isStored = preference.origin === 'store' && !isFixed;
  return (
    <div className="setting" data-fixed={isFixed}>
      <div className="setting-text" id={id}>
        <strong>{getPreferenceTitle(key)}</strong> <code className="setting-key quiet">{key}</code>
        <p>{about}</p>
        <Standing preference={preference} />
        {error !== undefined && error !== null && <Failed error={error} />}
      </div>
      <div className="setting-control">
        <ValueControl
          label={key}
          describedBy={id}
          kind={kind}
          value={value}
          isDisabled={!mayChange || isFixed || isBusy}
          onChange={onChange}
        />
        {hint !== undefined && <span className="quiet small">{hint}</span>}
        {isStored && mayChange && (
          <Button size="compact-xs" variant="subtle" disabled={isBusy} onClick={() => onChange(null)}>
            Reset to {formatPreference(preference.default)}
          </Button>
        )}
      </div>
    </div>
  );
}

/** What determines the value, and whether it is in force. */
function Standing({ preference }: { readonly preference: Preference }): ReactNode {
  const { isFixed, fixedBy = '', origin, changedBy, env, key, value, running, takesEffect } = preference;
  const source = origin === 'environment' ? 'the environment' : 'the config file';
  return (
    <>
      {isFixed && (
        <p className="standing">
          <Lock size={13} aria-hidden /> Fixed by <code>{fixedBy}</code> in {source}.
        </p>
      )}
      {!isFixed && changedBy === 'startup' && (
        <p className="standing">
          <Lock size={13} aria-hidden /> Can only be set at startup, by <code>{env}</code> or{' '}
          <code>settings[&quot;{key}&quot;]</code> in the config file.
        </p>
      )}
      {value !== running && (
        <p className="standing due">
          Takes effect at the next start of Assay; {formatPreference(running)} until then.
        </p>
      )}
      {value === running && takesEffect === 'next start' && !isFixed && changedBy === 'admin' && (
        <p className="standing">A change takes effect at the next start of Assay.</p>
      )}
    </>
  );
}

export function formatPreference(value: PreferenceValue): string {
  if (value === '') return 'nothing';
  if (typeof value === 'number') return value.toLocaleString('en');
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : value;
}
