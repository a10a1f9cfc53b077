import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Wrench } from 'lucide-react';
import { lazy, Suspense, useDeferredValue, useMemo, useState, type ReactNode } from 'react';
import { Page } from '../parts/page.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import { Empty, Failed, LoadingRows } from '../parts/states.tsx';
import { ToolFilters } from '../parts/tool-filters.tsx';
import { ToolList } from '../parts/tool-list.tsx';
import { filterTools, groupTools } from '../state/tool-filter.ts';
import { omitEmptySearch, type ToolSearch } from '../state/tool-search.ts';
import { isComplete, toolsQuery } from '../state/tools.ts';
import { toolsetsQuery } from '../state/toolsets.ts';

const NoTools = lazy(async () => ({ default: (await import('../parts/no-tools.tsx')).NoTools }));
// Loaded when a tool is first opened.
const ToolPanel = lazy(async () => ({ default: (await import('../parts/tool-panel.tsx')).ToolPanel }));

export function ToolsPage(): ReactNode {
  const tools = useQuery(toolsQuery);
  const search: ToolSearch = useSearch({ from: '/tools' });
  const navigate = useNavigate({ from: '/tools' });
  const filter = useDeferredValue(search);
  // Loaded after the tools: a filter by toolset is rare.
  const toolsets = useQuery({
    ...toolsetsQuery,
    enabled: isComplete(tools.data) || search.toolset !== undefined,
  });
  const members = toolsets.data?.find(({ name }) => name === filter.toolset)?.tools;
  const rows = useMemo(() => filterTools(tools.data ?? [], filter, members), [tools.data, filter, members]);
  const by = filter.group ?? 'server';
  const [collapsed, toggle] = useCollapsed();
  const items = useMemo(() => groupTools(rows, by, collapsed), [rows, by, collapsed]);
  // A changed filter scrolls the list to the top.
  const shown = JSON.stringify({ ...filter, tool: undefined });
  const servers = useMemo(() => [...new Set(tools.data?.map(({ server }) => server))], [tools.data]);
  const set = (change: Partial<Record<keyof ToolSearch, unknown>>): void =>
    void navigate({ search: (now: ToolSearch) => omitEmptySearch({ ...now, ...change }), replace: true });
  // Computed anew, because the list may still show the matches of the former text.
  const openFirst = (): void => {
    const matches = filterTools(tools.data ?? [], search, members);
    const [first] = groupTools(matches, by, new Set()).flatMap((item) =>
      item.kind === 'tool' ? [item.row] : [],
    );
    if (first !== undefined) set({ tool: first.id });
  };
  return (
    <Page
      title="Tools"
      count={isComplete(tools.data) ? rows.length : undefined}
      tools={
        <SearchBox
          label="Search tools"
          value={search.q ?? ''}
          onChange={(q) => set({ q })}
          onEnter={openFirst}
        />
      }
    >
      {tools.data?.length !== 0 && (
        <ToolFilters
          search={search}
          servers={servers}
          toolsets={toolsets.data?.map(({ name }) => name) ?? []}
          onChange={set}
        />
      )}
      {tools.isPending && <LoadingRows count={12} />}
      {tools.isError && <Failed error={tools.error} onRetry={() => void tools.refetch()} />}
      {tools.isSuccess && tools.data.length > 0 && rows.length === 0 && (
        <Empty icon={<Wrench size={32} aria-hidden />} title="No tools match these filters" />
      )}
      {rows.length > 0 && (
        <ToolList
          key={shown}
          items={items}
          collapsed={collapsed}
          onToggle={toggle}
          onOpen={(tool) => set({ tool })}
        />
      )}
      <Suspense>
        {tools.data?.length === 0 && <NoTools />}
        {search.tool !== undefined && <ToolPanel id={search.tool} onClose={() => set({ tool: undefined })} />}
      </Suspense>
    </Page>
  );
}

/** The collapsed groups, and a function that toggles one. */
function useCollapsed(): readonly [ReadonlySet<string>, (group: string) => void] {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const toggle = (group: string): void =>
    setCollapsed((now) => {
      const next = new Set(now);
      if (!next.delete(group)) next.add(group);
      return next;
    });
  return [collapsed, toggle];
}
