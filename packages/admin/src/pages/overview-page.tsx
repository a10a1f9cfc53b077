import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import type { Call } from '../../../gateway/src/api/call.ts';
import { CallChart, formatCallCounts } from '../parts/call-chart.tsx';
import { CallRow } from '../parts/call-row.tsx';
import { ContradictedAlarm } from '../parts/contradicted-alarm.tsx';
import { Page } from '../parts/page.tsx';
import { RiskBadge } from '../parts/risk-badge.tsx';
import { ServerRow } from '../parts/server-row.tsx';
import { Failed, LoadingRows } from '../parts/states.tsx';
import { pendingQuery } from '../state/approvals.ts';
import { callCountsQuery, callsQuery } from '../state/calls.ts';
import { gatewaysQuery } from '../state/lists.ts';
import { useIsAdmin } from '../state/session.ts';
import { isComplete, toolsQuery, type Risk } from '../state/tools.ts';

// Loaded only if there are no servers.
const FirstSteps = lazy(async () => ({ default: (await import('../parts/first-steps.tsx')).FirstSteps }));

const RISKS: readonly Risk[] = ['read_only', 'write', 'destructive', 'unannotated'];

export function OverviewPage(): ReactNode {
  const isAdmin = useIsAdmin();
  const tools = useQuery(toolsQuery);
  const gateways = useQuery(gatewaysQuery);
  const latest = useInfiniteQuery(callsQuery({}));
  const rows = tools.data ?? [];
  const isCounted = isComplete(tools.data);
  const review = rows.filter(({ drift }) => drift !== 'none').length;
  const calls = latest.data?.pages[0]?.calls.slice(0, 8) ?? [];
  if (gateways.data?.length === 0)
    return (
      <Page title="Overview">
        <Suspense fallback={<LoadingRows count={3} />}>
          <FirstSteps />
        </Suspense>
        {calls.length > 0 && <LatestCalls calls={calls} />}
      </Page>
    );
  return (
    <Page title="Overview">
      <ContradictedAlarm rows={rows} />
      <div className="cards">
        {RISKS.map((risk) => (
          <Link key={risk} className="card" data-ready={isCounted} to="/tools" search={{ risk }}>
            <strong>{!isCounted ? '…' : rows.filter((row) => row.risk === risk).length}</strong>
            <RiskBadge risk={risk} />
          </Link>
        ))}
        {isAdmin && <WaitingCard />}
        <Link className="card" to="/tools" search={{ drift: 'any' }}>
          <strong>{!isCounted ? '…' : review}</strong>
          To review
        </Link>
      </div>
      {tools.isError && <Failed error={tools.error} onRetry={() => void tools.refetch()} />}
      <CallsChart />
      <h2>Servers</h2>
      {gateways.isPending && <LoadingRows count={3} />}
      {gateways.isError && <Failed error={gateways.error} onRetry={() => void gateways.refetch()} />}
      <div className="rows">
        {gateways.data?.map((gateway) => (
          <ServerRow key={gateway.id} gateway={gateway} />
        ))}
      </div>
      <LatestCalls calls={calls}>
        {latest.isError && <Failed error={latest.error} onRetry={() => void latest.refetch()} />}
        {latest.isSuccess && calls.length === 0 && (
          <p className="quiet">
            No calls yet. Connect a client with <code>assay connect</code> and its name.
          </p>
        )}
      </LatestCalls>
    </Page>
  );
}

interface LatestCallsProps {
  readonly calls: readonly Call[];
  readonly children?: ReactNode;
}

function LatestCalls({ calls, children }: LatestCallsProps): ReactNode {
  return (
    <>
      <h2>Latest calls</h2>
      {children}
      <div className="rows">
        {calls.map((call) => (
          <CallRow key={call.id} call={call} />
        ))}
      </div>
    </>
  );
}

function CallsChart(): ReactNode {
  const counts = useQuery(callCountsQuery);
  return (
    <section aria-label="Calls of the last 12 hours">
      <h2>
        Calls
        {counts.data !== undefined && <span className="count">{formatCallCounts(counts.data)}</span>}
      </h2>
      {counts.isPending && <div className="skeleton chart-skeleton" />}
      {counts.isError && <Failed error={counts.error} onRetry={() => void counts.refetch()} />}
      {counts.data !== undefined && <CallChart counts={counts.data} />}
    </section>
  );
}

function WaitingCard(): ReactNode {
  const { data, isPending } = useQuery(pendingQuery);
  return (
    <Link className="card" to="/approvals">
      <strong>{isPending ? '…' : (data?.length ?? '–')}</strong>
      To approve
    </Link>
  );
}
