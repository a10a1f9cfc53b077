import { Button, SegmentedControl } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import type { Gateway, GatewayChange } from '../../../gateway/src/api/server.ts';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';
import { changeServer, removeServer, showEdit } from '../state/servers.ts';
import { useIsAdmin, useMayExecute } from '../state/session.ts';
import { NeedsExecute } from './needs-execute.tsx';
import { ServerSandbox, type ChangeServer } from './server-sandbox.tsx';
import { ServerSecrets } from './server-secrets.tsx';
import { ServerTrust, ServerTrustRefusal } from './server-trust.tsx';
import { SettingRow } from './setting-row.tsx';
import { Failed } from './states.tsx';
import { Switch } from './switch.tsx';

interface ServerSettingsProps {
  readonly gateway: Gateway;
  readonly onRemoved: () => void;
}

interface Edit {
  readonly edit: GatewayChange;
  /** What the page shows until the response arrives. */
  readonly shown: Partial<Gateway>;
}

export function ServerSettings({ gateway, onRemoved }: ServerSettingsProps): ReactNode {
  const client = useQueryClient();
  const changing = useMutation({
    mutationFn: ({ edit }: Edit) => changeServer(gateway.id, edit),
    onMutate: async ({ shown }: Edit) => {
      await client.cancelQueries({ queryKey: ['gateways'] });
      return showEdit(client, gateway.id, shown);
    },
    onError: (_, __, takeBack) => takeBack?.(),
    onSettled: () => client.invalidateQueries(),
  });
  const isAdmin = useIsAdmin();
  const mayExecute = useMayExecute();
  const isFixed = gateway.origin === 'config_file';
  // Its entry contains a command, so changing it changes what runs on this machine.
  const isBarred = gateway.command !== undefined && !mayExecute;
  const mayEdit = isAdmin && !isFixed && !isBarred;
  const set: ChangeServer = (edit, shown, onSuccess) =>
    changing.mutate({ edit, shown }, { ...(onSuccess !== undefined && { onSuccess }) });
  return (
    <>
      {changing.isError && <Failed error={changing.error} />}
      {isAdmin && isBarred && !isFixed && (
        <NeedsExecute>The entry has a command, which runs as the user who runs Assay.</NeedsExecute>
      )}
      <ServerSecrets gateway={gateway} />
      <Trust gateway={gateway} />
      <SettingRow
        label="Processes"
        about="Own: each client session has its own process or connection, so that the server can send requests to the client. Shared: all clients use the same one."
        fixed={fixedText({ isFixed, isBarred })}
      >
        <SegmentedControl
          size="xs"
          aria-label="Processes"
          disabled={!mayEdit || changing.isPending || gateway.isolation === undefined}
          value={gateway.isolation ?? 'shared'}
          onChange={(isolation) => set({ isolation }, { isolation })}
          data={[
            { value: 'shared', label: 'Shared' },
            { value: 'session', label: 'Own' },
          ]}
        />
      </SettingRow>
      {gateway.command !== undefined && (
        <SettingRow
          label="Keep running"
          about="Its process runs all the time. Otherwise it is stopped while nothing uses it, and started by the next call."
          fixed={fixedText({ isFixed, isBarred })}
        >
          <Switch
            label="Keep running"
            isOn={gateway.keepAlive === true}
            isDisabled={!mayEdit || changing.isPending}
            onChange={(keepAlive) => set({ keepAlive }, { keepAlive })}
          />
        </SettingRow>
      )}
      <SettingRow
        label="Enabled"
        about="A disabled server is kept but not connected, and its tools are hidden from clients."
        fixed={fixedText({ isFixed, isBarred })}
      >
        <Switch
          label="Enabled"
          isOn={gateway.enabled}
          isDisabled={!mayEdit || changing.isPending}
          onChange={(enabled) => set({ enabled }, { enabled })}
        />
      </SettingRow>
      {gateway.command !== undefined && (
        <ServerSandbox
          key={gateway.id}
          gateway={gateway}
          isDisabled={!mayEdit || changing.isPending}
          fixed={fixedText({ isFixed, isBarred })}
          onChange={set}
        />
      )}
      {isAdmin && <Removal gateway={gateway} onRemoved={onRemoved} mayUndo={!isBarred} />}
    </>
  );
}

function fixedText({ isFixed, isBarred }: { isFixed: boolean; isBarred: boolean }): string | undefined {
  if (isFixed) return 'Set in the config file; change it there.';
  return isBarred ? 'Changing a server with a command requires the scope execute.' : undefined;
}

function Trust({ gateway: { name, trust } }: { readonly gateway: Gateway }): ReactNode {
  if (trust === undefined) return null;
  return (
    <>
      <SettingRow
        label="Trust"
        about={`Its hints ${trust.value ? 'are' : 'are not'} trusted. Hints that are trusted may lower caution, for fewer approvals and safe retries; hints can always raise it.`}
        fixed={
          trust.origin === 'config_file'
            ? `Set to ${trust.value ? 'yes' : 'no'} in the config file; change it there.`
            : undefined
        }
      >
        {trust.value && trust.origin !== 'config_file' && <ServerTrust server={name} />}
      </SettingRow>
      {!trust.value && trust.origin !== 'config_file' && (
        <div className="trust-choice">
          <p className="quiet small">
            {trust.origin === 'operator'
              ? 'An operator decided not to trust them. Approval requests do not offer it.'
              : 'Nobody has decided. Approval requests offer to trust them, unless you decide not to.'}
          </p>
          <div className="actions-line">
            <ServerTrust server={name} />
            <ServerTrustRefusal server={name} isRefused={trust.origin === 'operator'} />
          </div>
        </div>
      )}
    </>
  );
}

interface RemovalProps extends ServerSettingsProps {
  readonly mayUndo: boolean;
}

function Removal({ gateway, onRemoved, mayUndo }: RemovalProps): ReactNode {
  const client = useQueryClient();
  const [isSure, setSure] = useState(mayUndo);
  const removing = useMutation({
    mutationFn: () => removeServer(client, gateway, mayUndo),
    onSuccess: onRemoved,
  });
  if (gateway.origin === 'config_file')
    return (
      <p className="quiet small">
        To remove it, delete it from the config file, or run{' '}
        <code>assay remove {quoteShellArgument(gateway.name)}</code>. Assay picks up changes of the file while
        it runs.
      </p>
    );
  return (
    <div className="actions-line">
      <Button
        variant="light"
        color="red"
        leftSection={<Trash2 size={14} aria-hidden />}
        loading={removing.isPending}
        onClick={() => (isSure ? removing.mutate() : setSure(true))}
      >
        {isSure || mayUndo ? 'Remove' : 'Remove…'}
      </Button>
      <span className="quiet small">
        {mayUndo
          ? 'Overrides and notes of its tools are kept, and apply again if the server is added again.'
          : isSure
            ? 'Press again to remove it. This cannot be undone here, as it needs the scope execute.'
            : ''}
      </span>
      {removing.isError && <Failed error={removing.error} />}
    </div>
  );
}
