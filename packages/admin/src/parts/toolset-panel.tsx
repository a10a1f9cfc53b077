import { Button, Drawer } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError, type Tagged } from '../state/api.ts';
import type { Toolset } from '../../../gateway/src/api/toolset.ts';
import { useIsAdmin } from '../state/session.ts';
import { TOOLSET_TABS, type ToolsetTab } from '../state/toolset-search.ts';
import { equip, toolsetQuery } from '../state/toolsets.ts';
import { Empty, Failed, LoadingRows } from './states.tsx';
import { Tabs } from './tabs.tsx';
import { ToolsetClients } from './toolset-clients.tsx';
import { ToolsetNotes } from './toolset-notes.tsx';
import { ToolsetSettings } from './toolset-settings.tsx';
import { ToolsetTools } from './toolset-tools.tsx';

interface ToolsetPanelProps {
  /** The name in the page's URL. */
  readonly name: string;
  readonly tab: ToolsetTab;
  readonly onTab: (tab: ToolsetTab) => void;
  readonly onRenamed: (name: string) => void;
  readonly onClose: () => void;
}

export function ToolsetPanel({ name, onClose, ...rest }: ToolsetPanelProps): ReactNode {
  const toolset = useQuery(toolsetQuery(name));
  const isGone = toolset.error instanceof ApiError && toolset.error.status === 404;
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="xl"
      title={name}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {toolset.isPending && <LoadingRows />}
      {isGone && <Empty title="Unknown toolset">It was deleted or renamed.</Empty>}
      {toolset.isError && !isGone && <Failed error={toolset.error} onRetry={() => void toolset.refetch()} />}
      {toolset.data !== undefined && !isGone && <Opened seen={toolset.data} onClose={onClose} {...rest} />}
    </Drawer>
  );
}

interface OpenedProps extends Omit<ToolsetPanelProps, 'name'> {
  readonly seen: Tagged<Toolset>;
}

function Opened({ seen, tab, onTab, onRenamed, onClose }: OpenedProps): ReactNode {
  const { value: toolset } = seen;
  const noteCount = toolset.toolNotes.flatMap(({ notes }) => notes).length;
  const labels: Readonly<Record<ToolsetTab, string>> = {
    tools: 'Tools',
    notes: noteCount === 0 ? 'Notes' : `Notes (${noteCount})`,
    clients: 'Clients',
    settings: 'Settings',
  };
  return (
    <>
      <Equipping toolset={toolset} />
      <Tabs
        label={`Toolset ${toolset.name}`}
        tabs={TOOLSET_TABS.map((value) => ({ value, label: labels[value] }))}
        value={tab}
        onChange={onTab}
      >
        {tab === 'tools' && <ToolsetTools seen={seen} />}
        {tab === 'notes' && <ToolsetNotes toolset={toolset} />}
        {tab === 'clients' && <ToolsetClients name={toolset.name} />}
        {tab === 'settings' && <ToolsetSettings seen={seen} onRenamed={onRenamed} onDeleted={onClose} />}
      </Tabs>
    </>
  );
}

function Equipping({ toolset: { name, isEquipped, description } }: { readonly toolset: Toolset }): ReactNode {
  const client = useQueryClient();
  const isAdmin = useIsAdmin();
  const equipping = useMutation({
    mutationFn: () => equip(isEquipped ? undefined : name),
    onSettled: () => client.invalidateQueries({ queryKey: ['toolsets'] }),
  });
  return (
    <div className="actions-line">
      <span className={isEquipped ? 'badge level-ready' : 'badge'}>{isEquipped ? 'Equipped' : 'Saved'}</span>
      <span className="quiet small grow">
        {isEquipped
          ? 'Clients at /mcp see its tools.'
          : (description ?? `Clients at /mcp/toolsets/${name} see its tools.`)}
      </span>
      {isAdmin && (
        <Button
          variant={isEquipped ? 'default' : 'filled'}
          loading={equipping.isPending}
          onClick={() => equipping.mutate()}
        >
          {isEquipped ? 'Unequip' : 'Equip'}
        </Button>
      )}
      {equipping.isError && <Failed error={equipping.error} />}
    </div>
  );
}
