import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Layers, Plus } from 'lucide-react';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import type { Toolset } from '../../../gateway/src/api/toolset.ts';
import { HostileText } from '../parts/hostile-text.tsx';
import { useKeys } from '../parts/keys.ts';
import { Page } from '../parts/page.tsx';
import { Empty, Failed, LoadingRows } from '../parts/states.tsx';
import { useIsAdmin } from '../state/session.ts';
import type { ToolsetSearch } from '../state/toolset-search.ts';
import { toolsetsQuery } from '../state/toolsets.ts';

// Dialogs and panels are loaded when they are first opened.
const NewToolset = lazy(async () => ({ default: (await import('../parts/new-toolset.tsx')).NewToolset }));
const ToolsetPanel = lazy(async () => ({
  default: (await import('../parts/toolset-panel.tsx')).ToolsetPanel,
}));

export function ToolsetsPage(): ReactNode {
  const toolsets = useQuery(toolsetsQuery);
  const search: ToolsetSearch = useSearch({ from: '/toolsets' });
  const navigate = useNavigate({ from: '/toolsets' });
  const show = (next: ToolsetSearch): void => void navigate({ search: next, replace: true });
  const isAdmin = useIsAdmin();
  const list = toolsets.data ?? [];
  const [current, setCurrent] = useState(-1);
  const at = Math.min(current, list.length - 1);
  const open = (toolset: string): void => show({ toolset });
  useKeys({
    j: () => setCurrent(Math.min(at + 1, list.length - 1)),
    k: () => setCurrent(Math.max(at - 1, 0)),
    Enter: () => list[at] !== undefined && open(list[at].name),
    n: () => isAdmin && show({ add: true }),
  });
  const add = isAdmin && (
    <Button leftSection={<Plus size={14} aria-hidden />} onClick={() => show({ add: true })}>
      New toolset
    </Button>
  );
  return (
    <Page
      title="Toolsets"
      count={toolsets.isSuccess ? list.length : undefined}
      tools={list.length > 0 && add}
    >
      {toolsets.isPending && <LoadingRows />}
      {toolsets.isError && <Failed error={toolsets.error} onRetry={() => void toolsets.refetch()} />}
      {toolsets.isSuccess && list.length === 0 && (
        <Empty icon={<Layers size={32} aria-hidden />} title="No toolsets yet">
          <p>A toolset gives a model only the tools that it needs, which also costs fewer tokens.</p>
          {add}
        </Empty>
      )}
      {list.length > 0 && (
        <ul className="rows server-list" aria-label="Toolsets">
          {list.map((toolset, index) => (
            <Row
              key={toolset.name}
              toolset={toolset}
              isCurrent={index === at}
              onOpen={() => open(toolset.name)}
            />
          ))}
        </ul>
      )}
      <Suspense>
        {search.add === true && <NewToolset onClose={() => show({})} onCreated={open} />}
        {search.toolset !== undefined && toolsets.isSuccess && (
          <ToolsetPanel
            key={search.toolset}
            name={search.toolset}
            tab={search.tab ?? 'tools'}
            onTab={(tab) => show({ ...search, tab })}
            onRenamed={(name) => show({ toolset: name, tab: 'settings' })}
            onClose={() => show({})}
          />
        )}
      </Suspense>
    </Page>
  );
}

interface RowProps {
  readonly toolset: Toolset;
  readonly isCurrent: boolean;
  readonly onOpen: () => void;
}

function Row({ toolset, isCurrent, onOpen }: RowProps): ReactNode {
  const { name, description, isEquipped, tools, toolNotes } = toolset;
  const held = toolNotes.flatMap(({ notes }) => notes).filter(({ isHeld }) => isHeld === true).length;
  return (
    <li className="row server" data-current={isCurrent}>
      <span className={isEquipped ? 'badge level-ready' : 'badge'}>{isEquipped ? 'Equipped' : 'Saved'}</span>
      <button type="button" className="grow open-row" onClick={onOpen}>
        <strong>{name}</strong>{' '}
        {description !== undefined && (
          <span className="quiet small">
            <HostileText text={description} />
          </span>
        )}
      </button>
      {held > 0 && <span className="badge review">{held} to review</span>}
      <span className="quiet tool-count">
        {membersText(tools.map(({ namespacedName }) => namespacedName))}
      </span>
    </li>
  );
}

function membersText(names: readonly string[]): string {
  const servers = names.filter((name) => name.endsWith('.*')).length;
  const tools = names.length - servers;
  const parts = [
    ...(tools > 0 || servers === 0 ? [`${tools} ${tools === 1 ? 'tool' : 'tools'}`] : []),
    ...(servers > 0 ? [`${servers} whole ${servers === 1 ? 'server' : 'servers'}`] : []),
  ];
  return parts.join(', ');
}
