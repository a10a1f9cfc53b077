import { Drawer } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Tool } from '../../../gateway/src/api/tool.ts';
import { getRisk, toolQuery } from '../state/tools.ts';
import { HostileText } from './hostile-text.tsx';
import { RiskBadge } from './risk-badge.tsx';
import { Failed, LoadingRows } from './states.tsx';
import { StopControl } from './stop-control.tsx';
import { Tabs } from './tabs.tsx';
import { SchemaTable } from './tool/schema-table.tsx';
import { ToolHints } from './tool/tool-hints.tsx';
import { ToolHistory } from './tool/tool-history.tsx';
import { ToolNotes } from './tool/tool-notes.tsx';
import { ToolSettings } from './tool/tool-settings.tsx';

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

const TABS = [
  { value: 'hints', label: 'Hints' },
  { value: 'definition', label: 'Definition' },
  { value: 'notes', label: 'Notes' },
  { value: 'settings', label: 'Settings' },
  { value: 'history', label: 'History' },
] as const;

function Details({ tool }: { readonly tool: Tool }): ReactNode {
  const [tab, setTab] = useState<(typeof TABS)[number]['value']>('hints');
  return (
    <>
      <p>
        <RiskBadge risk={getRisk(tool)} />{' '}
        <code>
          <HostileText text={tool.name} />
        </code>{' '}
        <Link to="/tools/$toolId/run" params={{ toolId: tool.id }}>
          Run
        </Link>
      </p>
      {tool.withheld !== undefined && (
        <p className="failed">
          <HostileText text={`Withheld from clients: ${tool.withheld.reason}`} />
        </p>
      )}
      {tool.guarantee !== undefined && <p className="quiet small">{tool.guarantee.text}</p>}
      <StopControl key={tool.id} what={{ kind: 'tool', tool: tool.namespacedName, id: tool.id }} />
      <Tabs label="About this tool" tabs={TABS} value={tab} onChange={setTab}>
        {tab === 'hints' && <ToolHints key={tool.id} tool={tool} />}
        {tab === 'definition' && <Definition tool={tool} />}
        {tab === 'notes' && <ToolNotes key={tool.id} tool={tool.namespacedName} />}
        {tab === 'settings' && <ToolSettings key={tool.id} tool={tool} />}
        {tab === 'history' && <ToolHistory id={tool.id} />}
      </Tabs>
    </>
  );
}

function Definition({ tool }: { readonly tool: Tool }): ReactNode {
  return (
    <>
      <p className="description">
        {tool.description === undefined ? (
          <span className="quiet">No description.</span>
        ) : (
          <HostileText text={tool.description} />
        )}
      </p>
      {tool.lint.length > 0 && (
        <>
          <h2>Findings</h2>
          {tool.lint.map(({ rule, message }) => (
            <p key={rule + message}>
              <HostileText text={message} />
            </p>
          ))}
        </>
      )}
      <h2>Input</h2>
      <SchemaTable schema={tool.inputSchema} />
      <details>
        <summary>As JSON</summary>
        <pre className="arguments" tabIndex={0} aria-label="Input schema">
          <HostileText text={JSON.stringify(tool.inputSchema ?? {}, null, 2)} />
        </pre>
      </details>
    </>
  );
}
