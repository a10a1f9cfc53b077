import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Gateway } from '../../../gateway/src/api/server.ts';
import { HostileText } from './hostile-text.tsx';
import { StateBadge } from './state-badge.tsx';

interface ServerRowProps {
  readonly gateway: Gateway;
  readonly action?: ReactNode;
}

export function ServerRow({ gateway, action }: ServerRowProps): ReactNode {
  const { name, state, cause, toolCount, transport, command, url, trust } = gateway;
  return (
    <div className="row server">
      <StateBadge state={state} />
      <span className="grow">
        <strong>
          <HostileText text={name} />
        </strong>{' '}
        <span className="quiet small">
          <HostileText text={cause ?? [command ?? url ?? transport, ...(gateway.args ?? [])].join(' ')} />
        </span>
      </span>
      {trust?.value === true && <span className="quiet wide">trusted</span>}
      <Link to="/tools" search={{ server: name }} className="quiet">
        {toolCount} {toolCount === 1 ? 'tool' : 'tools'}
      </Link>
      {action}
    </div>
  );
}
