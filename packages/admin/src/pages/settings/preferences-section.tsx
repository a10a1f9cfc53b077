import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { SlidersHorizontal } from 'lucide-react';
import { memo, useDeferredValue, useMemo, useState, type ReactNode } from 'react';
import type { Preference } from '../../../../gateway/src/api/preference.ts';
import { PreferenceRow } from '../../parts/preference-row.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx';
import {
  getPreferenceTitle,
  groupPreferences,
  preferencesQuery,
  useChangePreference,
} from '../../state/preferences.ts';
import { useIsAdmin } from '../../state/session.ts';

type Shown = 'all' | 'changed' | 'fixed';

export function PreferencesSection(): ReactNode {
  const preferences = useQuery(preferencesQuery);
  const [text, setText] = useState('');
  const [shown, setShown] = useState<Shown>('all');
  const found = useMemo(
    () => preferences.data?.filter((one) => isShown(one, text, shown)) ?? null,
    [preferences.data, text, shown],
  );
  // There are many rows; rendered as a transition, they do not block the page.
  const rows = useDeferredValue(found, null);
  return (
    <>
      <div className="filters">
        <SearchBox label="Search settings" value={text} onChange={setText} />
        <NativeSelect
          aria-label="Which settings"
          value={shown}
          onChange={(event) => setShown(event.currentTarget.value as Shown)}
          data={[
            { value: 'all', label: 'All settings' },
            { value: 'changed', label: 'Changed from default' },
            { value: 'fixed', label: 'Fixed' },
          ]}
        />
      </div>
      {rows === null && !preferences.isError && <LoadingRows count={10} />}
      {preferences.isError && <Failed error={preferences.error} onRetry={() => void preferences.refetch()} />}
      {rows?.length === 0 && (
        <Empty icon={<SlidersHorizontal size={32} aria-hidden />} title="No settings">
          No settings match this search.
        </Empty>
      )}
      {rows !== null && <Groups preferences={rows} />}
    </>
  );
}

const Groups = memo(function Groups({ preferences }: { readonly preferences: readonly Preference[] }) {
  const mayChange = useIsAdmin();
  return groupPreferences(preferences).map((group) => (
    <section key={group.title} aria-label={group.title}>
      <h2>{group.title}</h2>
      <div className="settings">
        {group.preferences.map((one) => (
          <Row key={one.key} preference={one} mayChange={mayChange} />
        ))}
      </div>
    </section>
  ));
});

function Row({
  preference,
  mayChange,
}: {
  readonly preference: Preference;
  readonly mayChange: boolean;
}): ReactNode {
  const change = useChangePreference(preference);
  return (
    <PreferenceRow
      preference={preference}
      mayChange={mayChange}
      isBusy={change.isPending}
      error={change.error}
      onChange={(value) => change.mutate(value)}
    />
  );
}

function isShown(preference: Preference, text: string, shown: Shown): boolean {
  const { key, about, isFixed, changedBy, value } = preference;
  if (shown === 'changed' && value === preference.default) return false;
  if (shown === 'fixed' && !isFixed && changedBy !== 'startup') return false;
  const words = text.toLowerCase().split(/\s+/);
  const searched = `${getPreferenceTitle(key)} ${key} ${about}`.toLowerCase();
  return words.every((word) => searched.includes(word));
}
