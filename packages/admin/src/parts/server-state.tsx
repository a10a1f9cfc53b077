import { SERVER_STATES } from '@assay-mcp/kit/server-states';
import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ListRestart, RefreshCw } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Gateway, RefreshResult } from '../../../gateway/src/api/server.ts';
import { refreshServer, restartServer } from '../state/servers.ts';
import { useIsAdmin } from '../state/session.ts';
import { HostileText } from './hostile-text.tsx';
import { formatServerAddress } from './server-list.tsx';
import { StateBadge } from './state-badge.tsx';
import { Failed } from './states.tsx';
import { StopControl } from './stop-control.tsx';
import { When } from './when.tsx';

const MODERN = '2026-07-28';

export function ServerState({ gateway }: { readonly gateway: Gateway }): ReactNode {
  const { name, state, cause, era, revision, toolCount, skipped = [] } = gateway;
  return (
    <>
      <p className="state-line">
        <StateBadge state={state} />
        {state !== 'up' && (
          <span className="quiet small">
            {SERVER_STATES[state].meaning}
            {gateway.keptState !== undefined && ' What it kept in memory was lost when it was stopped.'}
          </span>
        )}
        {era !== undefined && (
          <span className="quiet small">
            MCP {revision ?? era}
            {revision !== MODERN && era === 'legacy' && ', with sessions'}
          </span>
        )}
      </p>
      {cause !== undefined && (
        <div className="failed" role="status">
          <span>
            <HostileText text={cause} />
          </span>
        </div>
      )}
      <Actions gateway={gateway} />
      <StopControl what={{ kind: 'server', server: name }} />
      <dl className="facts plain">
        <dt>Reached by</dt>
        <dd className="mono wrap">
          <HostileText text={formatServerAddress(gateway)} />
        </dd>
        <Names label="Environment" names={gateway.env} />
        <Names label="Headers" names={gateway.headers} />
        <dt>Tools</dt>
        <dd>
          <Link to="/tools" search={{ server: name }}>
            {toolCount.toLocaleString('en')} {toolCount === 1 ? 'tool' : 'tools'}
          </Link>
        </dd>
        <Origin gateway={gateway} />
      </dl>
      {skipped.length > 0 && (
        <>
          <h2>Skipped operations</h2>
          {skipped.map(({ what, why }) => (
            <p key={what + why} className="wrap">
              <code>
                <HostileText text={what} />
              </code>{' '}
              <HostileText text={why} />
            </p>
          ))}
        </>
      )}
    </>
  );
}

function Origin({ gateway }: { readonly gateway: Gateway }): ReactNode {
  const { origin, createdAt, createdBy } = gateway;
  return (
    <>
      <dt>Defined</dt>
      <dd>
        {origin === 'config_file' ? (
          'in the config file'
        ) : (
          <>
            by <HostileText text={createdBy ?? 'an operator'} />
            {createdAt !== undefined && (
              <>
                , <When at={createdAt} />
              </>
            )}
          </>
        )}
      </dd>
    </>
  );
}

function Names({
  label,
  names = [],
}: {
  readonly label: string;
  readonly names?: readonly string[] | undefined;
}): ReactNode {
  if (names.length === 0) return null;
  return (
    <>
      <dt>{label}</dt>
      <dd className="mono wrap" title="Values are stored encrypted and never shown">
        <HostileText text={names.join(', ')} />
      </dd>
    </>
  );
}

function Actions({ gateway: { id, enabled } }: { readonly gateway: Gateway }): ReactNode {
  const client = useQueryClient();
  const isAdmin = useIsAdmin();
  const onSettled = (): Promise<void> => client.invalidateQueries();
  const refreshing = useMutation({ mutationFn: () => refreshServer(id), onSettled });
  const restarting = useMutation({ mutationFn: () => restartServer(id), onSettled });
  const isBusy = refreshing.isPending || restarting.isPending;
  if (!isAdmin || !enabled) return null;
  return (
    <div className="actions-line">
      <Button
        variant="default"
        leftSection={<RefreshCw size={14} aria-hidden />}
        title="Read its lists again and compare them with the accepted ones"
        loading={refreshing.isPending}
        disabled={isBusy}
        onClick={() => {
          restarting.reset();
          refreshing.mutate();
        }}
      >
        Refresh
      </Button>
      <Button
        variant="default"
        leftSection={<ListRestart size={14} aria-hidden />}
        title="Stop and start it. Calls in flight fail."
        loading={restarting.isPending}
        disabled={isBusy}
        onClick={() => {
          refreshing.reset();
          restarting.mutate();
        }}
      >
        Restart
      </Button>
      <span role="status" className="quiet small">
        {refreshing.isSuccess && changesText(refreshing.data)}
        {restarting.isSuccess && `It is ${restarting.data.state}.`}
      </span>
      {refreshing.isError && <Failed error={refreshing.error} />}
      {restarting.isError && <Failed error={restarting.error} />}
    </div>
  );
}

function changesText({ toolsAdded, toolsUpdated, toolsRemoved }: RefreshResult): string {
  const parts = [
    [toolsAdded.length, 'new'],
    [toolsUpdated.length, 'changed'],
    [toolsRemoved.length, 'gone'],
  ].filter(([count]) => count !== 0);
  return parts.length === 0 ? 'No changes.' : `${parts.map((part) => part.join(' ')).join(', ')}.`;
}
