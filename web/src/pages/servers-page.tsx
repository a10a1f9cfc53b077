import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Server } from 'lucide-react';
import type { ReactNode } from 'react';
import { Page } from '../parts/page.tsx';
import { ServerRow } from '../parts/server-row.tsx';
import { Empty, Failed, LoadingRows } from '../parts/states.tsx';
import { gatewaysQuery, refresh } from '../state/lists.ts';
import { useIsAdmin } from '../state/session.ts';

export function ServersPage(): ReactNode {
  const client = useQueryClient();
  const gateways = useQuery(gatewaysQuery);
  const isAdmin = useIsAdmin();
  const refreshing = useMutation({
    mutationFn: refresh,
    onSettled: () => client.invalidateQueries(),
  });
  const list = gateways.data ?? [];
  return (
    <Page title="Servers" count={list.length}>
      {gateways.isPending && <LoadingRows />}
      {gateways.isError && <Failed error={gateways.error} onRetry={() => void gateways.refetch()} />}
      {refreshing.isError && <Failed error={refreshing.error} />}
      {gateways.isSuccess && list.length === 0 && (
        <Empty icon={<Server size={32} aria-hidden />} title="No servers yet">
          Run <code>assay import</code> to take over the servers of your MCP clients, or{' '}
          <code>assay add</code> for one.
        </Empty>
      )}
      <div className="rows">
        {list.map((gateway) => (
          <ServerRow
            key={gateway.id}
            gateway={gateway}
            action={
              isAdmin &&
              gateway.enabled && (
                <Button
                  size="compact-xs"
                  variant="default"
                  loading={refreshing.isPending && refreshing.variables === gateway.id}
                  onClick={() => refreshing.mutate(gateway.id)}
                >
                  Refresh
                </Button>
              )
            }
          />
        ))}
      </div>
    </Page>
  );
}
