import { Lock } from 'lucide-react';
import { useEffect, useRef, type ReactNode } from 'react';
import type { Gateway } from '../../../gateway/src/api/server.ts';
import { HostileText } from './hostile-text.tsx';
import { StateBadge } from './state-badge.tsx';

interface ServerListProps {
  readonly rows: readonly Gateway[];
  /** Index of the row that keys act on; -1 if none. */
  readonly current: number;
  /** Number of changes that wait for a review, by server name. */
  readonly reviewCounts: ReadonlyMap<string, number>;
  readonly onOpen: (name: string) => void;
}

export function ServerList({ rows, current, reviewCounts, onOpen }: ServerListProps): ReactNode {
  if (rows.length === 0) return null;
  return (
    <ul className="rows server-list" aria-label="Servers">
      {rows.map((gateway, at) => (
        <Row
          key={gateway.id}
          gateway={gateway}
          isCurrent={at === current}
          reviewCount={reviewCounts.get(gateway.name) ?? 0}
          onOpen={() => onOpen(gateway.name)}
        />
      ))}
    </ul>
  );
}

interface RowProps {
  readonly gateway: Gateway;
  readonly isCurrent: boolean;
  readonly reviewCount: number;
  readonly onOpen: () => void;
}

function Row({ gateway, isCurrent, reviewCount, onOpen }: RowProps): ReactNode {
  const { name, state, cause, toolCount, origin, trust } = gateway;
  const element = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isCurrent) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isCurrent]);
  return (
    <li ref={element} className="row server" data-current={isCurrent}>
      <StateBadge state={state} />
      <button type="button" className="grow open-row" onClick={onOpen}>
        <strong>
          <HostileText text={name} />
        </strong>{' '}
        <span className={cause === undefined ? 'quiet small' : 'small bad'}>
          <HostileText text={cause ?? formatServerAddress(gateway)} />
        </span>
      </button>
      {reviewCount > 0 && <span className="badge review">{reviewCount} to review</span>}
      {trust?.value === true && <span className="quiet wide">trusted</span>}
      {origin === 'config_file' && (
        <span className="mark wide" title="Set in the config file">
          <Lock size={14} aria-label="Set in the config file" />
        </span>
      )}
      <span className="quiet tool-count">
        {toolCount.toLocaleString('en')} {toolCount === 1 ? 'tool' : 'tools'}
      </span>
    </li>
  );
}

/** The command line or URL of a server, on one line. */
export function formatServerAddress({ command, args = [], url, openapi, transport }: Gateway): string {
  if (command !== undefined) return [command, ...args].join(' ');
  return openapi ?? url ?? (transport === 'local' ? 'Custom tools' : (transport ?? ''));
}
