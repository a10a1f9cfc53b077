import { capitalize } from '@assay-mcp/kit/capitalize';
import { queryOptions, useMutation, useQueryClient, type QueryClient } from '@tanstack/react-query';
import type { Preference, PreferenceList, PreferenceValue } from '../../../gateway/src/api/preference.ts';
import type { TokenPreferenceChanges, TokenPreferenceList } from '../../../gateway/src/api/token.ts';
import { read, write } from './api.ts';
import { notify } from './notices.ts';

export const preferencesQuery = queryOptions({
  queryKey: ['preferences'],
  queryFn: async ({ signal }) => (await read<PreferenceList>('/preferences', signal)).preferences,
});

export const tokenPreferencesQuery = (id: string) =>
  queryOptions({
    queryKey: ['preferences', 'token', id],
    queryFn: async ({ signal }) => (await read<TokenPreferenceList>(pathOf(id), signal)).preferences,
  });

/**
 * Shows the new value at once. If it is refused, restores the old one and shows the reason. Undo restores the stored
 * value.
 */
export function useChangePreference(before: Preference) {
  const client = useQueryClient();
  const send = async (value: PreferenceValue | null): Promise<void> => {
    const { preferences } = await write<PreferenceList>('PATCH', '/preferences', { [before.key]: value });
    client.setQueryData(preferencesQuery.queryKey, preferences);
  };
  return useMutation({
    mutationFn: (value: PreferenceValue | null) => send(value),
    onMutate: async (value) => {
      await client.cancelQueries({ queryKey: preferencesQuery.queryKey, exact: true });
      show(client, before.key, { value: value ?? before.default });
    },
    onSuccess: (_done, value) => {
      const undone = before.origin === 'store' ? before.value : null;
      notify({
        text: `${before.key} is ${String(value ?? before.default)}.`,
        undo: () => void send(undone).catch(() => client.invalidateQueries({ queryKey: ['preferences'] })),
      });
    },
    onError: () => show(client, before.key, before),
    onSettled: () => client.invalidateQueries({ queryKey: ['preferences', 'token'] }),
  });
}

export function useChangeTokenPreference(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (changes: TokenPreferenceChanges) => write<TokenPreferenceList>('PATCH', pathOf(id), changes),
    onSuccess: ({ preferences }) => client.setQueryData(tokenPreferencesQuery(id).queryKey, preferences),
  });
}

function show(client: QueryClient, key: string, change: Partial<Preference>): void {
  client.setQueryData(preferencesQuery.queryKey, (all) =>
    all?.map((one) => (one.key === key ? { ...one, ...change } : one)),
  );
}

function pathOf(id: string): string {
  return `/tokens/${encodeURIComponent(id)}/preferences`;
}

/** What people call a setting, where the words of its key do not say it. */
const TITLES: Readonly<Record<string, string>> = {
  approvals: 'Who asks for approval',
  'policy.approver': 'Who answers approvals',
  'policy.autoApproveReadOnly': 'Auto-approve read-only tools',
  'policy.alwaysConfirmDestructive': 'Always confirm destructive tools',
  'policy.showWarnings': 'Show warnings with approvals',
  'policy.unannotated': 'Tools without trusted hints',
  'policy.confirm': 'How often calls are confirmed',
  'policy.outbound': 'Calls that could carry data out',
  'policy.trustObservations': 'Rely on what verifications saw',
  'policy.labelIdleMs': 'When session labels end',
  'activity.arguments': 'Record arguments of calls',
  'notes.review': 'Review notes of models',
  'cache.ttlMs': 'How long results are cached',
  'drift.prose': 'Changed descriptions',
  'servers.refreshMs': 'How often lists are read again',
  enableConfigToolsMenu: 'Offer the configuration tools',
};

/** The title of a setting: `limits.requestsPerServer` is "Requests per server". */
export function getPreferenceTitle(key: string): string {
  const known = Object.hasOwn(TITLES, key) ? TITLES[key] : undefined;
  if (known !== undefined) return known;
  const last = key.slice(key.lastIndexOf('.') + 1).replace(/Ms$/, '');
  const words = last.replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ').toLowerCase();
  return capitalize(words);
}

const GROUPS: readonly (readonly [title: string, isIn: RegExp])[] = [
  ['Approvals', /^(approvals|policy\.)/],
  ['Record of calls', /^activity\./],
  ['Toolsets and notes', /^(enableConfigToolsMenu|modes?\.|toolsets\.|notes\.)/],
  ['Servers and results', /^(servers|cache|drift|search)\./],
  ['Findings', /^lint\./],
  ['Access', /^(mcp|auth|http)\./],
  ['Limits', /^limits\./],
];

export interface PreferenceGroup {
  readonly title: string;
  readonly preferences: readonly Preference[];
}

/** Groups in the order of the page; preferences without a group come last. */
export function groupPreferences(preferences: readonly Preference[]): readonly PreferenceGroup[] {
  const titleOf = ({ key }: Preference): string => GROUPS.find(([, isIn]) => isIn.test(key))?.[0] ?? 'Others';
  const groups = Map.groupBy(preferences, titleOf);
  return [...GROUPS.map(([title]) => title), 'Others'].flatMap((title) => {
    const found = groups.get(title);
    return found === undefined ? [] : [{ title, preferences: found }];
  });
}

/** `5 min` for 300000 if the key ends with Ms, `64 MiB` if it ends with Bytes. */
export function formatUnits(key: string, value: PreferenceValue): string | undefined {
  if (typeof value !== 'number' || value === 0) return undefined;
  if (key.endsWith('Ms')) return inUnits(value, MS_UNITS);
  return key.toLowerCase().endsWith('bytes') ? inUnits(value, BYTE_UNITS) : undefined;
}

const MS_UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;
const BYTE_UNITS = [
  [1024 ** 3, 'GiB'],
  [1024 ** 2, 'MiB'],
  [1024, 'KiB'],
] as const;

function inUnits(
  value: number,
  units: readonly (readonly [size: number, name: string])[],
): string | undefined {
  const unit = units.find(([size]) => value >= size);
  if (unit === undefined) return undefined;
  const [size, name] = unit;
  return `${(value / size).toLocaleString('en', { maximumFractionDigits: 1 })} ${name}`;
}
