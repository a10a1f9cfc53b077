import { capitalize } from '@assay-mcp/kit/capitalize';
import { getServerLevel, SERVER_STATES } from '@assay-mcp/kit/server-states';
import type { ReactNode } from 'react';
import type { Gateway } from '../../../gateway/src/api/server.ts';

/** The state of a server by the name that it has in REST and in the CLI; its meaning on hover. */
export function StateBadge({ state }: Pick<Gateway, 'state'>): ReactNode {
  return (
    <span className={`badge level-${getServerLevel(state)}`} title={SERVER_STATES[state].meaning}>
      {capitalize(state)}
    </span>
  );
}
