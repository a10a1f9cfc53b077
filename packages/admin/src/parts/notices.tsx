import { Button, CloseButton } from '@mantine/core';
import { useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';
import { getNotices, dismiss, onNotices, type Notice } from '../state/notices.ts';
import { HostileText } from './hostile-text.tsx';

const SHOWN_MS = 12_000;

/** Notices about recent changes, with Undo. */
export function Notices(): ReactNode {
  const notices = useSyncExternalStore(onNotices, getNotices);
  return (
    <div className="notices" role="status" aria-label="Notices">
      {notices.map((notice) => (
        <NoticeCard key={notice.id} notice={notice} />
      ))}
    </div>
  );
}

function NoticeCard({ notice }: { readonly notice: Notice }): ReactNode {
  const { id, text, undo } = notice;
  // A notice does not disappear while it is hovered or focused.
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return undefined;
    const timer = setTimeout(() => dismiss(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, isHeld]);
  return (
    <div
      className="notice"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span>
        <HostileText text={text} />
      </span>
      {undo !== undefined && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            dismiss(id);
            undo();
          }}
        >
          Undo
        </Button>
      )}
      <CloseButton size="sm" aria-label="Dismiss" onClick={() => dismiss(id)} />
    </div>
  );
}
