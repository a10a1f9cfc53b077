import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { NAV_PAGES } from './nav-pages.ts';

const SHORTCUTS: readonly (readonly [key: string, meaning: string])[] = [
  ['/', 'Search on this page'],
  ['j  k', 'Next and previous'],
  ['a', 'Approve the selected call once'],
  ['d', 'Deny the selected call'],
  ['1 – 7', NAV_PAGES.map(({ label }) => label).join(', ')],
  ['?', 'This help'],
];

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
