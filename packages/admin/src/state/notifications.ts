import { useEffect, useRef, useState } from 'react';
import type { Approval } from '../../../gateway/src/api/approval.ts';

const KEY = 'assay-notify-approvals';

export type NotifyState = 'unsupported' | 'off' | 'on' | 'blocked';

function stateNow(): NotifyState {
  if (!('Notification' in window)) return 'unsupported';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && localStorage.getItem(KEY) === 'yes' ? 'on' : 'off';
}

export interface ApprovalNotifications {
  readonly state: NotifyState;
  /** The browser asks for permission first, so call it only from a click. */
  readonly toggle: () => Promise<void>;
}

/**
 * Notifies the user of new pending calls while the page is in the background. Shows only names, because others may see
 * the screen.
 */
export function useApprovalNotifications(pending: readonly Approval[] | undefined): ApprovalNotifications {
  const [state, setState] = useState(stateNow);
  const known = useRef<ReadonlySet<string>>(undefined);
  useEffect(() => {
    if (pending === undefined) return;
    const before = known.current;
    known.current = new Set(pending.map(({ id }) => id));
    if (before === undefined || state !== 'on' || document.visibilityState === 'visible') return;
    for (const { id, namespacedName } of pending.filter((one) => !before.has(one.id)).slice(0, 3)) {
      const shown = new Notification('A call needs approval', { body: namespacedName, tag: id });
      shown.onclick = () => window.focus();
    }
  }, [pending, state]);
  const toggle = async (): Promise<void> => {
    if (state === 'on') localStorage.removeItem(KEY);
    else if ((await Notification.requestPermission()) === 'granted') localStorage.setItem(KEY, 'yes');
    setState(stateNow());
  };
  return { state, toggle };
}
