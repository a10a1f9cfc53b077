import { Drawer, SegmentedControl } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { HintClaim, HintName, Tool } from '../../../src/edges/rest/contract/tools.ts';
import { useIsAdmin } from '../state/session.ts';
import { HINT_LABELS, riskOf, setHint, toolQuery } from '../state/tools.ts';
import { HostileText } from './hostile-text.tsx';
import { RiskBadge } from './risk-badge.tsx';
import { Failed, LoadingRows } from './states.tsx';

interface ToolPanelProps {
  readonly id: string;
  readonly onClose: () => void;
}

export function ToolPanel({ id, onClose }: ToolPanelProps): ReactNode {
  const tool = useQuery(toolQuery(id));
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={tool.data === undefined ? 'Tool' : <HostileText text={tool.data.title ?? tool.data.name} />}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {tool.isPending && <LoadingRows />}
      {tool.isError && <Failed error={tool.error} onRetry={() => void tool.refetch()} />}
      {tool.data !== undefined && <Details tool={tool.data} />}
    </Drawer>
  );
}

function Details({ tool }: { readonly tool: Tool }): ReactNode {
  return (
    <>
      <p>
        <RiskBadge risk={riskOf(tool)} />{' '}
        <code>
          <HostileText text={tool.name} />
        </code>
      </p>
      {tool.withheld !== undefined && (
        <p className="failed">
          <HostileText text={`Withheld from clients: ${tool.withheld.reason}`} />
        </p>
      )}
      <p className="description">
        {tool.description === undefined ? (
          <span className="quiet">No description.</span>
        ) : (
          <HostileText text={tool.description} />
        )}
      </p>
      <Hints tool={tool} />
      {tool.lint.length > 0 && (
        <>
          <h2>Findings</h2>
          {tool.lint.map(({ rule, says }) => (
            <p key={rule + says}>
              <code>{rule}</code> <HostileText text={says} />
            </p>
          ))}
        </>
      )}
      <h2>Input</h2>
      <pre className="arguments" tabIndex={0} aria-label="Input schema">
        <HostileText text={JSON.stringify(tool.inputSchema ?? {}, null, 2)} />
      </pre>
    </>
  );
}

function Hints({ tool }: { readonly tool: Tool }): ReactNode {
  const client = useQueryClient();
  const isAdmin = useIsAdmin();
  const change = useMutation({
    mutationFn: ({ hint, value }: { readonly hint: HintName; readonly value: boolean | null }) =>
      setHint(tool.id, hint, value),
    onSettled: () => client.invalidateQueries({ queryKey: ['tools'] }),
  });
  return (
    <>
      <h2>Hints</h2>
      {change.isError && <Failed error={change.error} />}
      <div className="hint-grid">
        {(Object.keys(HINT_LABELS) as HintName[]).map((name) => {
          const hint = tool.hints[name];
          const override = hint.claims.find(({ kind }) => kind === 'override');
          return [
            <strong key="name">{HINT_LABELS[name]}</strong>,
            <span key="value">{hint.effective ? 'yes' : 'no'}</span>,
            <SegmentedControl
              key="edit"
              size="xs"
              aria-label={`Override of ${HINT_LABELS[name]}`}
              disabled={!isAdmin || change.isPending}
              value={override === undefined ? 'inherit' : String(override.value)}
              onChange={(value) =>
                change.mutate({ hint: name, value: value === 'inherit' ? null : value === 'true' })
              }
              data={[
                { value: 'inherit', label: 'Inherit' },
                { value: 'true', label: 'Yes' },
                { value: 'false', label: 'No' },
              ]}
            />,
            <span className="why" key="why">
              <HostileText text={[hint.reason, ...hint.claims.map(claimText)].join(' · ')} />
              {hint.isContradicted && ' · contradicted'}
            </span>,
          ];
        })}
      </div>
    </>
  );
}

function claimText({ kind, value, origin, suspended }: HintClaim): string {
  const text = `${kind} ${value ? 'yes' : 'no'} by ${origin}`;
  return suspended === undefined ? text : `${text} (suspended: ${suspended})`;
}
