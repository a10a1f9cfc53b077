import { Button, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import type { Toolset } from '../../../gateway/src/api/toolset.ts';
import { ApiError, findFieldError, isToldAt, type Tagged } from '../state/api.ts';
import { useIsAdmin } from '../state/session.ts';
import { changeToolset, deleteToolset } from '../state/toolsets.ts';
import { Failed } from './states.tsx';
import { When } from './when.tsx';

interface ToolsetSettingsProps {
  readonly seen: Tagged<Toolset>;
  readonly onRenamed: (name: string) => void;
  readonly onDeleted: () => void;
}

export function ToolsetSettings({ seen, onRenamed, onDeleted }: ToolsetSettingsProps): ReactNode {
  const { value: toolset, etag } = seen;
  const client = useQueryClient();
  const isAdmin = useIsAdmin();
  // Undefined until it is edited, so that changes by others are kept.
  const [name = toolset.name, setName] = useState<string>();
  const [description = toolset.description ?? '', setDescription] = useState<string>();
  const isChanged = name !== toolset.name || description !== (toolset.description ?? '');
  const saving = useMutation({
    mutationFn: () =>
      changeToolset(toolset.name, { name, description: description === '' ? null : description }, etag),
    onSuccess: async ({ name: now }) => {
      if (now !== toolset.name) onRenamed(now);
      await client.invalidateQueries({ queryKey: ['toolsets'] });
      setName(undefined);
      setDescription(undefined);
    },
  });
  const deleting = useMutation({
    mutationFn: (unequips: boolean) => deleteToolset(client, toolset, { unequips }),
    onSuccess: onDeleted,
  });
  const isInUse = deleting.error instanceof ApiError && deleting.error.code === 'TOOLSET_EQUIPPED';
  return (
    <>
      <form
        className="add-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isChanged && !saving.isPending) saving.mutate();
        }}
      >
        <TextInput
          label="Name"
          description="Part of its endpoint’s URL; clients that use that URL must be updated"
          disabled={!isAdmin}
          value={name}
          error={findFieldError(saving.error, 'name')}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label="Description"
          disabled={!isAdmin}
          value={description}
          error={findFieldError(saving.error, 'description')}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
        {saving.isError && !isToldAt(saving.error, ['name', 'description']) && (
          <Failed error={saving.error} />
        )}
        {isAdmin && (
          <div className="actions-line end">
            <Button type="submit" disabled={!isChanged} loading={saving.isPending}>
              Save
            </Button>
          </div>
        )}
      </form>
      <p className="quiet small">
        Created <When at={toolset.createdAt} />, last changed <When at={toolset.lastModified} />.
      </p>
      {isAdmin && (
        <div className="actions-line">
          <Button
            variant="light"
            color="red"
            leftSection={<Trash2 size={14} aria-hidden />}
            loading={deleting.isPending}
            onClick={() => deleting.mutate(isInUse)}
          >
            {isInUse ? 'Delete anyway' : 'Delete'}
          </Button>
          <span className="quiet small">Deletes its notes too. Can be undone for a few seconds.</span>
          {deleting.isError && <Failed error={deleting.error} />}
        </div>
      )}
    </>
  );
}
