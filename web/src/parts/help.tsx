import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';

const SHORTCUTS = [
  ['/', 'Search on this page'],
  ['j  k', 'Next and previous'],
  ['a', 'Approve the selected call once'],
  ['d', 'Deny the selected call'],
  ['1 – 7', 'Overview, Approvals, Tools, Servers, Activity, Settings, Toolsets'],
  ['?', 'This help'],
] as const;

export function Help({ onClose }: { readonly onClose: () => void }): ReactNode {
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts" closeButtonProps={{ 'aria-label': 'Close' }}>
      <div className="rows">
        {SHORTCUTS.map(([key, meaning]) => (
          <div className="row" key={key}>
            <kbd>{key}</kbd> {meaning}
          </div>
        ))}
      </div>
    </Modal>
  );
}
