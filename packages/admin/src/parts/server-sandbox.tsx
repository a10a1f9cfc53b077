import { Button, SegmentedControl, Textarea } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { Gateway, GatewayChange } from '../../../gateway/src/api/server.ts';
import type { GuaranteeKind } from '../../../gateway/src/api/tool.ts';
import { useDraft } from '../state/drafts.ts';
import { toolQuery, toolsQuery, type ToolRow } from '../state/tools.ts';
import { HostileText } from './hostile-text.tsx';
import { SettingRow } from './setting-row.tsx';
import { Switch } from './switch.tsx';

interface ServerSandboxProps {
  readonly gateway: Gateway;
  readonly isDisabled: boolean;
  /** Why it cannot be changed here. */
  readonly fixed: string | undefined;
  readonly onChange: ChangeServer;
}

export type ChangeServer = (edit: GatewayChange, shown: Partial<Gateway>, onSuccess?: () => void) => void;

type Mode = 'off' | NonNullable<Gateway['sandbox']>;

const MEANINGS: Readonly<Record<Mode, string>> = {
  off: 'Its tools have all rights of the user who runs Assay.',
  twin: 'Calls of its read-only tools go to a second process, which cannot change files.',
  strict: 'Like twin; in addition, the server itself can change files only in its roots.',
};

/** For a server with a command: its sandbox, what the sandbox may reach, and what is enforced for each tool. */
export function ServerSandbox({ gateway, isDisabled, fixed, onChange }: ServerSandboxProps): ReactNode {
  const mode: Mode = gateway.sandbox ?? 'off';
  return (
    <>
      <SettingRow label="Sandbox" about={`${MEANINGS[mode]} A change restarts the server.`} fixed={fixed}>
        <SegmentedControl
          size="xs"
          aria-label="Sandbox"
          disabled={isDisabled}
          value={mode}
          onChange={(sandbox) => onChange({ sandbox }, sandbox === 'off' ? {} : { sandbox })}
          data={[
            { value: 'off', label: 'Off' },
            { value: 'twin', label: 'Twin' },
            { value: 'strict', label: 'Strict' },
          ]}
        />
      </SettingRow>
      {mode !== 'off' && (
        <>
          <Concession
            name="separate_state"
            label="Separate state"
            about={`Its read-only tools may run in a second process although its tools keep state in memory, which the second process does not share.${stateText(gateway)}`}
            {...{ gateway, isDisabled, onChange }}
          />
          <Concession
            name="node_permission"
            label="Node's permission model"
            about="Where no sandbox can start, read-only tools of a Node server may run under Node's permission model, which is weaker and does not restrict the network of open-world tools."
            {...{ gateway, isDisabled, onChange }}
          />
          <Lines
            label="Roots"
            about="Folders that its sandboxed processes may read, in addition to its own folder and those in its arguments. One per line."
            placeholder="/home/ada/notes"
            draftKey={`roots of ${gateway.id}`}
            lines={gateway.roots ?? []}
            isDisabled={isDisabled}
            onSave={(roots, onSuccess) => onChange({ roots }, { roots }, onSuccess)}
          />
          <Network gateway={gateway} isDisabled={isDisabled} onChange={onChange} />
        </>
      )}
      <Guarantees server={gateway.name} />
    </>
  );
}

interface ConcessionProps extends Omit<ServerSandboxProps, 'fixed'> {
  readonly name: NonNullable<Gateway['sandboxAccepts']>[number];
  readonly label: string;
  readonly about: string;
}

/** A limitation of the sandbox that the operator can accept. */
function Concession({ name, label, about, gateway, isDisabled, onChange }: ConcessionProps): ReactNode {
  const accepted = gateway.sandboxAccepts ?? [];
  return (
    <SettingRow label={label} about={about}>
      <Switch
        label={label}
        isOn={accepted.includes(name)}
        isDisabled={isDisabled}
        onChange={(isAccepted) => {
          const others = accepted.filter((one) => one !== name);
          const sandboxAccepts = isAccepted ? [...others, name] : others;
          onChange({ sandboxAccepts }, { sandboxAccepts });
        }}
      />
    </SettingRow>
  );
}

function stateText({ stateful = [], sandboxAccepts = [] }: Gateway): string {
  if (stateful.length === 0) return '';
  const seen = ` A verification found such state in ${stateful.slice(0, 5).join(', ')}${stateful.length > 5 ? ', …' : ''}`;
  return sandboxAccepts.includes('separate_state')
    ? `${seen}.`
    : `${seen}, so calls of its read-only tools are refused until you accept this.`;
}

function Network({
  gateway: { id, network },
  isDisabled,
  onChange,
}: Omit<ServerSandboxProps, 'fixed'>): ReactNode {
  return (
    <>
      <SettingRow
        label="Network"
        about='Hosts that open-world tools may connect to, and with strict also the server itself. Closed-world tools have no network. "*" stands for all public hosts, but gives a strict server the network of this machine, including Assay itself.'
      >
        <SegmentedControl
          size="xs"
          aria-label="Network"
          disabled={isDisabled}
          value={network === undefined ? 'public' : 'listed'}
          onChange={(value) =>
            value === 'public' ? onChange({ network: null }, {}) : onChange({ network: [] }, { network: [] })
          }
          data={[
            { value: 'public', label: 'All public hosts' },
            { value: 'listed', label: 'Only these' },
          ]}
        />
      </SettingRow>
      {network !== undefined && (
        <Lines
          label="Hosts"
          about="One per line. Empty: no hosts."
          placeholder={'api.example.com\n*.example.com\nlocalhost:8080'}
          draftKey={`network of ${id}`}
          lines={network}
          isDisabled={isDisabled}
          onSave={(hosts, onSuccess) => onChange({ network: hosts }, { network: hosts }, onSuccess)}
        />
      )}
    </>
  );
}

interface LinesProps {
  readonly label: string;
  readonly about: string;
  readonly placeholder: string;
  readonly draftKey: string;
  readonly lines: readonly string[];
  readonly isDisabled: boolean;
  readonly onSave: (lines: readonly string[], onSuccess: () => void) => void;
}

function Lines({ label, about, placeholder, draftKey, lines, isDisabled, onSave }: LinesProps): ReactNode {
  const draft = useDraft<string | undefined>(draftKey, undefined);
  const shown = lines.join('\n');
  const text = draft.value ?? shown;
  const given = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return (
    <form
      className="add-form lines"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(given, draft.discard);
      }}
    >
      <Textarea
        label={label}
        description={about}
        placeholder={placeholder}
        className="json"
        rows={3}
        maxLength={10_000}
        spellCheck={false}
        disabled={isDisabled}
        value={text}
        onChange={(event) => draft.set(event.currentTarget.value)}
      />
      {given.join('\n') !== shown && (
        <div className="actions-line">
          <Button type="submit" disabled={isDisabled}>
            Save the {label.toLowerCase()}
          </Button>
          <Button variant="default" onClick={() => draft.discard()}>
            Discard
          </Button>
        </div>
      )}
    </form>
  );
}

const NO_ROWS: readonly ToolRow[] = [];
const MAX_SHOWN = 50;

/** Each tool needs a request, so they are read only on demand. */
function Guarantees({ server }: { readonly server: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { data = NO_ROWS } = useQuery({ ...toolsQuery, enabled: isOpen });
  const rows = data.filter((row) => row.server === server);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Restrictions enforced on each tool</summary>
      {isOpen && <GuaranteeList rows={rows.slice(0, MAX_SHOWN)} />}
      {rows.length > MAX_SHOWN && (
        <p className="quiet small">
          And {(rows.length - MAX_SHOWN).toLocaleString('en')} more; see the panel of each tool.
        </p>
      )}
    </details>
  );
}

const GUARANTEE_LABELS: Readonly<Record<GuaranteeKind, string>> = {
  none: 'Nothing',
  read: 'Reads, no network',
  read_network: 'Reads, with network',
  node_permission: 'Reads, by Node',
  write_roots: 'Writes in its roots',
  write_index: 'Writes its index',
  refused: 'Refused',
};

function GuaranteeList({ rows }: { readonly rows: readonly ToolRow[] }): ReactNode {
  const tools = useQueries({ queries: rows.map(({ id }) => toolQuery(id)) });
  return (
    <ul className="guarantees" aria-label="Guarantees">
      {rows.map((row, at) => {
        const { guarantee } = tools[at]?.data ?? {};
        return (
          <li key={row.id} title={guarantee?.text}>
            <span className="grow">
              <HostileText text={row.title} />
            </span>
            <span className="quiet">{guarantee === undefined ? '…' : GUARANTEE_LABELS[guarantee.kind]}</span>
          </li>
        );
      })}
    </ul>
  );
}
