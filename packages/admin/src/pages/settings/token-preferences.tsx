import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Preference, PreferenceValue } from '../../../../gateway/src/api/preference.ts';
import { formatPreference } from '../../parts/preference-row.tsx';
import { Failed, LoadingRows } from '../../parts/states.tsx';
import {
  preferencesQuery,
  tokenPreferencesQuery,
  useChangeTokenPreference,
} from '../../state/preferences.ts';

/** The preferences for calls with one token: the instance's values, or the token's own. */
export function TokenPreferences({ id }: { readonly id: string }): ReactNode {
  const own = useQuery(tokenPreferencesQuery(id));
  const all = useQuery(preferencesQuery);
  const change = useChangeTokenPreference(id);
  if (own.isPending || all.isPending) return <LoadingRows count={3} />;
  const failed = own.error ?? all.error;
  if (failed !== null) return <Failed error={failed} />;
  return (
    <div className="token-preferences">
      {change.isError && <Failed error={change.error} />}
      {own.data?.map(({ key, value, origin }) => {
        const instance = all.data?.find((one) => one.key === key);
        if (instance === undefined) return null;
        const isOwn = origin === 'token';
        return (
          <NativeSelect
            key={key}
            label={key}
            description={instance.isFixed ? `Fixed by ${instance.fixedBy ?? ''}.` : undefined}
            disabled={instance.isFixed || change.isPending}
            value={isOwn ? String(value) : ''}
            onChange={(event) => change.mutate({ [key]: valueOf(event.currentTarget.value, instance) })}
            data={[
              { value: '', label: `Inherited: ${formatPreference(instance.value)}` },
              ...choicesOf(instance).map((choice) => ({
                value: String(choice),
                label: formatPreference(choice),
              })),
            ]}
          />
        );
      })}
    </div>
  );
}

function choicesOf({ kind }: Preference): readonly PreferenceValue[] {
  return kind.type === 'choice' ? kind.of : [true, false];
}

function valueOf(text: string, { kind }: Preference): PreferenceValue | null {
  if (text === '') return null;
  return kind.type === 'flag' ? text === 'true' : text;
}
