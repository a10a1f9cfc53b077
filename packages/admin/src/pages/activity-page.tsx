import { Button, SegmentedControl } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Activity } from 'lucide-react';
import type { ReactNode } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CallFilters } from '../parts/call-filters.tsx';
import { CallRow } from '../parts/call-row.tsx';
import { ChangeRow } from '../parts/change-row.tsx';
import { useRowKeys } from '../parts/keys.ts';
import { Page } from '../parts/page.tsx';
import { Empty, Failed, LoadingRows } from '../parts/states.tsx';
import { callsQuery, type CallFilter } from '../state/calls.ts';
import { readActivitySearch, type ActivitySearch } from '../state/activity-search.ts';
import { activityQuery } from '../state/lists.ts';
import { useIsAdmin } from '../state/session.ts';

export function ActivityPage(): ReactNode {
  const { show, ...filter }: ActivitySearch = useSearch({ from: '/activity' });
  const navigate = useNavigate({ from: '/activity' });
  const isAdmin = useIsAdmin();
  useRowKeys();
  const set = (change: Record<string, unknown>): void =>
    void navigate({
      search: (now: ActivitySearch) => readActivitySearch({ ...now, ...change }),
      replace: true,
    });
  return (
    <Page
      title="Activity"
      tools={
        <SegmentedControl
          size="xs"
          aria-label="What is shown"
          value={show ?? 'calls'}
          onChange={(value) => set({ show: value })}
          data={[
            { value: 'calls', label: 'Calls' },
            { value: 'changes', label: 'Changes' },
          ]}
        />
      }
    >
      {show === undefined ? (
        <>
          <CallFilters filter={filter} mayExport={isAdmin} onChange={set} />
          <Calls filter={filter} />
        </>
      ) : (
        <Changes />
      )}
    </Page>
  );
}

function Calls({ filter }: { readonly filter: CallFilter }): ReactNode {
  const query = useInfiniteQuery(callsQuery(filter));
  const calls = query.data?.pages.flatMap((page) => page.calls) ?? [];
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <Listed
      query={query}
      isEmpty={calls.length === 0}
      emptyTitle={isFiltered ? 'No calls match these filters' : 'No calls'}
    >
      {calls.map((call) => (
        <CallRow key={call.id} call={call} />
      ))}
    </Listed>
  );
}

function Changes(): ReactNode {
  const query = useInfiniteQuery(activityQuery);
  const entries = query.data?.pages.flatMap((page) => page.activity) ?? [];
  return (
    <Listed query={query} isEmpty={entries.length === 0} emptyTitle="No changes">
      {entries.map((entry) => (
        <ChangeRow key={entry.id} entry={entry} />
      ))}
    </Listed>
  );
}

interface ListedProps {
  readonly query: {
    readonly isPending: boolean;
    readonly isError: boolean;
    readonly isSuccess: boolean;
    readonly error: unknown;
    readonly refetch: () => Promise<unknown>;
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => Promise<unknown>;
  };
  readonly isEmpty: boolean;
  readonly emptyTitle: string;
  readonly children: ReactNode;
}

function Listed({ query, isEmpty, emptyTitle, children }: ListedProps): ReactNode {
  return (
    <>
      {query.isPending && <LoadingRows />}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && isEmpty && (
        <Empty icon={<Activity size={32} aria-hidden />} title={emptyTitle}>
          They appear here as they happen.
        </Empty>
      )}
      {!isEmpty && <div className="rows">{children}</div>}
      {query.hasNextPage && (
        <p>
          <Button
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            Older
          </Button>
        </p>
      )}
    </>
  );
}
