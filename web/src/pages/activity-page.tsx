import { Button, NativeSelect, SegmentedControl } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Activity } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { CallRow } from '../parts/call-row.tsx';
import { ChangeRow } from '../parts/change-row.tsx';
import { Page } from '../parts/page.tsx';
import { Empty, Failed, LoadingRows } from '../parts/states.tsx';
import { callsQuery, type CallFilter } from '../state/calls.ts';
import { activityQuery } from '../state/lists.ts';

type Shown = 'calls' | 'changes';

export function ActivityPage(): ReactNode {
  const [shown, setShown] = useState<Shown>('calls');
  const [filter, setFilter] = useState<CallFilter>('all');
  return (
    <Page
      title="Activity"
      tools={
        <>
          {shown === 'calls' && (
            <NativeSelect
              aria-label="Which calls"
              value={filter}
              onChange={(event) => setFilter(event.currentTarget.value as CallFilter)}
              data={[
                { value: 'all', label: 'All calls' },
                { value: 'ask', label: 'Asked for' },
                { value: 'refuse', label: 'Refused' },
                { value: 'failed', label: 'Failed' },
              ]}
            />
          )}
          <SegmentedControl
            size="xs"
            aria-label="What is shown"
            value={shown}
            onChange={(value) => setShown(value)}
            data={[
              { value: 'calls', label: 'Calls' },
              { value: 'changes', label: 'Changes' },
            ]}
          />
        </>
      }
    >
      {shown === 'calls' ? <Calls filter={filter} /> : <Changes />}
    </Page>
  );
}

function Calls({ filter }: { readonly filter: CallFilter }): ReactNode {
  const query = useInfiniteQuery(callsQuery(filter));
  const calls = query.data?.pages.flatMap((page) => page.calls) ?? [];
  return (
    <Listed query={query} isEmpty={calls.length === 0} emptyTitle="No calls">
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
