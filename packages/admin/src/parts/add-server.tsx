import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';
import { ADD_KINDS, type AddKind } from '../state/server-search.ts';
import { AddCommand } from './add-command.tsx';
import { AddOpenapi } from './add-openapi.tsx';
import { AddRestTool } from './add-rest-tool.tsx';
import { AddUrl } from './add-url.tsx';
import { Tabs } from './tabs.tsx';

interface AddServerProps {
  readonly kind: AddKind;
  readonly onKind: (kind: AddKind) => void;
  readonly onClose: () => void;
  /** Receives the name of the server that was added or extended. */
  readonly onAdded: (name: string) => void;
}

const LABELS: Readonly<Record<AddKind, string>> = {
  command: 'Command',
  url: 'URL',
  openapi: 'OpenAPI',
  rest: 'REST tool',
};

export function AddServer({ kind, onKind, onClose, onAdded }: AddServerProps): ReactNode {
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title="Add a server"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Tabs
        label="What to add"
        tabs={ADD_KINDS.map((value) => ({ value, label: LABELS[value] }))}
        value={kind}
        onChange={onKind}
      >
        {kind === 'command' && <AddCommand onAdded={onAdded} />}
        {kind === 'url' && <AddUrl onAdded={onAdded} />}
        {kind === 'openapi' && <AddOpenapi onAdded={onAdded} />}
        {kind === 'rest' && <AddRestTool onAdded={onAdded} />}
      </Tabs>
    </Drawer>
  );
}
