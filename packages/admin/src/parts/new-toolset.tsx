import { Drawer, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { createToolset } from '../state/toolsets.ts';
import { AddForm, omitEmptyFields } from './add-form.tsx';

interface NewToolsetProps {
  readonly onClose: () => void;
  readonly onCreated: (name: string) => void;
}

export function NewToolset({ onClose, onCreated }: NewToolsetProps): ReactNode {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const add = async (): Promise<string> => (await createToolset(omitEmptyFields({ name, description }))).name;
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title="New toolset"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <AddForm
        action="Create and choose tools"
        add={add}
        onAdded={onCreated}
        fields={['name', 'description']}
        progress=""
      >
        {(fault) => (
          <>
            <TextInput
              label="Name"
              description="2 to 50 lowercase letters, digits and hyphens"
              data-autofocus
              required
              value={name}
              error={fault('name')}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <TextInput
              label="Description"
              description="What it is for"
              value={description}
              error={fault('description')}
              onChange={(event) => setDescription(event.currentTarget.value)}
            />
          </>
        )}
      </AddForm>
    </Drawer>
  );
}
