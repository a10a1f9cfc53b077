import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import type { Gateway } from '../../../gateway/src/api/server.ts';
import { useKeys } from '../parts/keys.ts';
import { Page } from '../parts/page.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import { ServerList } from '../parts/server-list.tsx';
import { Empty, Failed, LoadingRows } from '../parts/states.tsx';
import { gatewaysQuery } from '../state/lists.ts';
import type { ServerSearch } from '../state/server-search.ts';
import { changedInstructionsQuery, driftedQuery } from '../state/servers.ts';
import { useIsAdmin } from '../state/session.ts';

// Dialogs and panels are loaded when they are first opened.
const AddServer = lazy(async () => ({ default: (await import('../parts/add-server.tsx')).AddServer }));
const ServerPanel = lazy(async () => ({ default: (await import('../parts/server-panel.tsx')).ServerPanel }));

const FirstSteps = lazy(async () => ({ default: (await import('../parts/first-steps.tsx')).FirstSteps }));

type SetSearch = (change: { readonly [K in keyof ServerSearch]?: ServerSearch[K] | undefined }) => void;

export function ServersPage(): ReactNode {
  const gateways = useQuery(gatewaysQuery);
  const search: ServerSearch = useSearch({ from: '/servers' });
  const navigate = useNavigate({ from: '/servers' });
  const set: SetSearch = (change) =>
    void navigate({ search: (now: ServerSearch) => withoutEmpty({ ...now, ...change }), replace: true });
  const isAdmin = useIsAdmin();
  const list = gateways.data ?? [];
  const rows = list.filter((one) => isFound(one, search.q ?? ''));
  const [current, setCurrent] = useState(-1);
  const at = Math.min(current, rows.length - 1);
  const open = (name: string): void => set({ server: name, tab: undefined, add: undefined });
  useKeys({
    j: () => setCurrent(Math.min(at + 1, rows.length - 1)),
    k: () => setCurrent(Math.max(at - 1, 0)),
    Enter: () => rows[at] !== undefined && open(rows[at].name),
    n: () => isAdmin && set({ add: 'command', server: undefined }),
  });
  const opened = list.find(({ name }) => name === search.server);
  return (
    <Page
      title="Servers"
      count={gateways.isSuccess ? rows.length : undefined}
      tools={<Tools {...{ search, set, isAdmin, hasSearch: list.length > 5 }} />}
    >
      {gateways.isPending && <LoadingRows />}
      {gateways.isError && <Failed error={gateways.error} onRetry={() => void gateways.refetch()} />}
      {list.length > 0 && rows.length === 0 && <Empty title="No servers match the search" />}
      <ServerList rows={rows} current={at} reviewCounts={useReviewCounts()} onOpen={open} />
      {gateways.isSuccess && list.length === 0 && (
        <Suspense fallback={<LoadingRows />}>
          <FirstSteps />
        </Suspense>
      )}
      <Suspense>
        {search.add !== undefined && (
          <AddServer
            kind={search.add}
            onKind={(add) => set({ add })}
            onClose={() => set({ add: undefined })}
            onAdded={(name) => open(name)}
          />
        )}
        {search.server !== undefined && search.add === undefined && gateways.isSuccess && (
          <ServerPanel
            name={search.server}
            gateway={opened}
            tab={search.tab ?? 'state'}
            onTab={(tab) => set({ tab })}
            onClose={() => set({ server: undefined, tab: undefined })}
          />
        )}
      </Suspense>
    </Page>
  );
}

/** Number of changes that wait for a review, by server name. */
function useReviewCounts(): ReadonlyMap<string, number> {
  const drifted = useQuery(driftedQuery);
  const instructions = useQuery(changedInstructionsQuery);
  const counts = new Map<string, number>();
  const add = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const { serverName } of drifted.data?.tools ?? []) add(serverName);
  for (const { serverName } of instructions.data ?? []) add(serverName);
  return counts;
}

interface ToolsProps {
  readonly search: ServerSearch;
  readonly set: SetSearch;
  readonly isAdmin: boolean;
  readonly hasSearch: boolean;
}

function Tools({ search, set, isAdmin, hasSearch }: ToolsProps): ReactNode {
  return (
    <>
      {hasSearch && <SearchBox label="Search servers" value={search.q ?? ''} onChange={(q) => set({ q })} />}
      {isAdmin && (
        <Button
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => set({ add: 'command', server: undefined })}
        >
          Add a server
        </Button>
      )}
    </>
  );
}

function isFound({ name, url, command, openapi, state }: Gateway, q: string): boolean {
  const text = [name, url, command, openapi, state].join(' ').toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function withoutEmpty(search: Record<string, unknown>): ServerSearch {
  return Object.fromEntries(
    Object.entries(search).filter(([, value]) => value !== undefined && value !== ''),
  );
}
