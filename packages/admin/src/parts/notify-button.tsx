import { Button } from '@mantine/core';
import { Bell, BellOff } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ApprovalNotifications } from '../state/notifications.ts';

export function NotifyButton({ state, toggle }: ApprovalNotifications): ReactNode {
  if (state === 'unsupported') return null;
  if (state === 'blocked')
    return <span className="quiet small">This browser blocks notifications for this address.</span>;
  const icon = state === 'on' ? <Bell size={14} aria-hidden /> : <BellOff size={14} aria-hidden />;
  return (
    <Button variant="default" leftSection={icon} aria-pressed={state === 'on'} onClick={() => void toggle()}>
      {state === 'on' ? 'Notifications on' : 'Notify me'}
    </Button>
  );
}
