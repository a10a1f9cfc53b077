import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Gateway } from '../../../src/api/server.ts';
import { HostileText } from './hostile-text.tsx';

/** The state by the name that it has in REST and in the CLI. */
export function stateLabel(state: string): string {
  return state.charAt(0).toUpperCase() + state.slice(1);
}

interface ServerRowProps {
  readonly gateway: Gateway;
  readonly action?: ReactNode;
}

export function ServerRow({ gateway, action }: ServerRowProps): ReactNode {
  const { name, state, cause, toolCount, transport, command, url, trust } = gateway;
  return (
    <div className="row server">
      <span className={`badge state-${state}`}>{stateLabel(state)}</span>
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
