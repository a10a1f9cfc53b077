import { NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Search, Wrench } from 'lucide-react';
import { lazy, Suspense, useDeferredValue, useMemo, type ReactNode } from 'react';
import { Page } from '../parts/page.tsx';
import { RISK_LABELS } from '../parts/risk-badge.tsx';
import { Empty, Failed, LoadingRows } from '../parts/states.tsx';
import { ToolList } from '../parts/tool-list.tsx';
import type { ToolSearch } from '../state/tool-search.ts';
import { isComplete, toolsQuery, type Risk, type ToolRow } from '../state/tools.ts';

const NoTools = lazy(async () => ({ default: (await import('../parts/no-tools.tsx')).NoTools }));
// Loaded when a tool is first opened.
const ToolPanel = lazy(async () => ({ default: (await import('../parts/tool-panel.tsx')).ToolPanel }));

export function ToolsPage(): ReactNode {
  const tools = useQuery(toolsQuery);
  const search: ToolSearch = useSearch({ from: '/tools' });
  const navigate = useNavigate({ from: '/tools' });
  const filter = useDeferredValue(search);
  const rows = useMemo(() => filtered(tools.data ?? [], filter), [tools.data, filter]);
  // Another filter begins at the top of its list.
  const shown = JSON.stringify({ ...filter, tool: undefined });
  const servers = useMemo(() => [...new Set(tools.data?.map(({ server }) => server))], [tools.data]);
  const set = (change: Partial<Record<keyof ToolSearch, unknown>>): void =>
    void navigate({ search: (now: ToolSearch) => withoutEmpty({ ...now, ...change }), replace: true });
  return (
    <Page
      title="Tools"
      count={isComplete(tools.data) ? rows.length : undefined}
      tools={<Filters {...{ search, servers, set }} />}
    >
      {tools.isPending && <LoadingRows count={12} />}
      {tools.isError && <Failed error={tools.error} onRetry={() => void tools.refetch()} />}
      {tools.isSuccess && tools.data.length > 0 && rows.length === 0 && (
        <Empty icon={<Wrench size={32} aria-hidden />} title="No tool fits these filters" />
      )}
      {rows.length > 0 && <ToolList key={shown} rows={rows} onOpen={(tool) => set({ tool })} />}
      <Suspense>
        {tools.data?.length === 0 && <NoTools />}
        {search.tool !== undefined && <ToolPanel id={search.tool} onClose={() => set({ tool: undefined })} />}
      </Suspense>
    </Page>
  );
}

interface FiltersProps {
  readonly search: ToolSearch;
  readonly servers: readonly string[];
  readonly set: (change: Partial<Record<keyof ToolSearch, unknown>>) => void;
}

function Filters({ search, servers, set }: FiltersProps): ReactNode {
  return (
    <>
      <TextInput
        data-search
        aria-label="Search tools"
        placeholder="Search…"
        leftSection={<Search size={14} aria-hidden />}
        rightSection={<kbd aria-hidden>/</kbd>}
        value={search.q ?? ''}
        onChange={(event) => set({ q: event.currentTarget.value })}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
      <NativeSelect
        aria-label="Risk"
        value={search.risk ?? ''}
        onChange={(event) => set({ risk: event.currentTarget.value })}
        data={[
          { value: '', label: 'All risks' },
          ...(Object.keys(RISK_LABELS) as Risk[]).map((risk) => ({ value: risk, label: RISK_LABELS[risk] })),
        ]}
      />
      <NativeSelect
        aria-label="Server"
        value={search.server ?? ''}
        onChange={(event) => set({ server: event.currentTarget.value })}
        data={[{ value: '', label: 'All servers' }, ...servers.map((name) => ({ value: name, label: name }))]}
      />
      <NativeSelect
        aria-label="Review"
        value={search.review === true ? 'yes' : ''}
        onChange={(event) => set({ review: event.currentTarget.value === 'yes' ? true : undefined })}
        data={[
          { value: '', label: 'Changed or not' },
          { value: 'yes', label: 'Changed, to review' },
        ]}
      />
    </>
  );
}

function filtered(
  rows: readonly ToolRow[],
  { q = '', risk, server, review }: ToolSearch,
): readonly ToolRow[] {
  const words = q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return rows.filter(
    (row) =>
      (risk === undefined || row.risk === risk) &&
      (server === undefined || row.server === server) &&
      (review === undefined || row.drift !== 'none') &&
      words.every((word) => row.text.includes(word)),
  );
}

function withoutEmpty(search: Record<string, unknown>): ToolSearch {
  return Object.fromEntries(
    Object.entries(search).filter(([, value]) => value !== undefined && value !== ''),
  );
}
