import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Gateway } from '../../../src/api/server.ts';
import { HostileText } from './hostile-text.tsx';

export const SERVER_STATES: Readonly<Record<string, string>> = {
  up: 'Up',
  starting: 'Starting',
  restarting: 'Restarting',
  backoff: 'Retrying',
  refused: 'Refused',
  unauthorized: 'Sign-in needed',
  stopped: 'Stopped',
  disabled: 'Off',
};

interface ServerRowProps {
  readonly gateway: Gateway;
  readonly action?: ReactNode;
}

export function ServerRow({ gateway, action }: ServerRowProps): ReactNode {
  const { name, state, cause, toolCount, transport, command, url, trust } = gateway;
  return (
    <div className="row server">
      <span className={`badge state-${state}`}>{SERVER_STATES[state] ?? state}</span>
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
