import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Approval } from '../../../gateway/src/api/approval.ts';
import { HostileText } from './hostile-text.tsx';
import { When } from './when.tsx';

const STATES: Readonly<Record<Approval['state'], string>> = {
  pending: 'Waiting',
  approved: 'Approved',
  used: 'Approved once',
  denied: 'Denied',
  revoked: 'Revoked',
  expired: 'Expired',
  unreadable: 'Changed',
};

const LASTING = {
  session: 'for the session',
  server: 'for the session and destination server',
  always: 'always',
} as const;

interface AnsweredRowProps {
  readonly approval: Approval;
  readonly onRevoke: () => void;
}

export function AnsweredRow({ approval, onRevoke }: AnsweredRowProps): ReactNode {
  const { state, namespacedName, answeredAt, answeredBy, scope, reason } = approval;
  if (state === 'unreadable')
    return (
      <div className="row">
        <span className="badge risk-write">{STATES[state]}</span>
        <span className="grow">
          Approval {approval.id} was changed and cannot be read. It permits nothing.
        </span>
      </div>
    );
  const isLasting = state === 'approved' && scope !== undefined && scope !== 'once';
  return (
    <div className="row">
      <span className={`badge state-${state}`}>{STATES[state]}</span>
      <span className="grow">
        <code>
          <HostileText text={namespacedName} />
        </code>
        {reason !== undefined && (
          <span className="quiet">
            {' '}
            “<HostileText text={reason} />”
          </span>
        )}
      </span>
      {isLasting && <span className="quiet">{LASTING[scope]}</span>}
      {answeredBy !== undefined && (
        <span className="quiet wide">
          by <HostileText text={answeredBy} />
        </span>
      )}
      <span className="quiet wide">
        <When at={answeredAt ?? approval.createdAt} />
      </span>
      {isLasting && (
        <Button size="compact-xs" variant="default" onClick={onRevoke}>
          Revoke
        </Button>
      )}
    </div>
  );
}
