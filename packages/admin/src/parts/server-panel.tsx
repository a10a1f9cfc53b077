import { Drawer } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Gateway } from '../../../gateway/src/api/server.ts';
import { SERVER_TABS, type ServerTab } from '../state/server-search.ts';
import { changedInstructionsQuery, driftedOfQuery } from '../state/servers.ts';
import { useIsAdmin } from '../state/session.ts';
import { HostileText } from './hostile-text.tsx';
import { ServerLogs } from './server-logs.tsx';
import { ServerReview } from './server-review.tsx';
import { ServerSettings } from './server-settings.tsx';
import { ServerState } from './server-state.tsx';
import { ServerVerify } from './server-verify.tsx';
import { Empty } from './states.tsx';
import { Tabs } from './tabs.tsx';

interface ServerPanelProps {
  /** The name in the page's URL. */
  readonly name: string;
  /** Undefined if there is no such server. */
  readonly gateway: Gateway | undefined;
  readonly tab: ServerTab;
  readonly onTab: (tab: ServerTab) => void;
  readonly onClose: () => void;
}

export function ServerPanel({ name, gateway, tab, onTab, onClose }: ServerPanelProps): ReactNode {
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="xl"
      title={<HostileText text={name} />}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {gateway === undefined ? (
        <Empty title="Unknown server">It was removed or renamed.</Empty>
      ) : (
        <Opened gateway={gateway} tab={tab} onTab={onTab} onClose={onClose} />
      )}
    </Drawer>
  );
}

interface OpenedProps extends Omit<ServerPanelProps, 'name'> {
  readonly gateway: Gateway;
}

function Opened({ gateway, tab, onTab, onClose }: OpenedProps): ReactNode {
  const isAdmin = useIsAdmin();
  const drifted = useQuery(driftedOfQuery(gateway.id));
  const instructions = useQuery(changedInstructionsQuery);
  const hasInstructions = instructions.data?.some(({ gatewayId }) => gatewayId === gateway.id) === true;
  const waiting = (drifted.data?.total ?? 0) + (hasInstructions ? 1 : 0);
  const labels: Readonly<Record<ServerTab, string>> = {
    state: 'State',
    logs: 'Logs',
    review: waiting === 0 ? 'Review' : `Review (${waiting})`,
    settings: 'Settings',
  };
  const shown = SERVER_TABS.filter((one) => isAdmin || one !== 'logs');
  return (
    <Tabs
      label={`Server ${gateway.name}`}
      tabs={shown.map((value) => ({ value, label: labels[value] }))}
      value={shown.includes(tab) ? tab : 'state'}
      onChange={onTab}
    >
      {tab === 'state' && <ServerState gateway={gateway} />}
      {tab === 'state' && <ServerVerify gateway={gateway} />}
      {tab === 'logs' && isAdmin && <ServerLogs id={gateway.id} transport={gateway.transport} />}
      {tab === 'review' && <ServerReview gateway={gateway} drifted={drifted} />}
      {tab === 'settings' && <ServerSettings gateway={gateway} onRemoved={onClose} />}
    </Tabs>
  );
}
