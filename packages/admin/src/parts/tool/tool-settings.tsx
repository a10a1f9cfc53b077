import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Tool } from '../../../../gateway/src/api/tool.ts';
import { formatAnnotations, readEditedAnnotations } from '../../state/annotation-text.ts';
import { ApiError, formatError } from '../../state/api.ts';
import { useDraft } from '../../state/drafts.ts';
import { notify } from '../../state/notices.ts';
import { useIsAdmin } from '../../state/session.ts';
import { changeToolWithUndo } from '../../state/tool-undo.ts';
import { changeTool, type ToolChange, toolQuery } from '../../state/tools.ts';
import { Failed } from '../states.tsx';

/** A tool's title, how often its calls are confirmed, and its annotations as JSON. */
export function ToolSettings({ tool }: { readonly tool: Tool }): ReactNode {
  return (
    <div className="tool-settings">
      <Title tool={tool} />
      <Confirming tool={tool} />
      <Annotations tool={tool} />
    </div>
  );
}

/** Shows a change at once. If it is refused, reverts it and shows the reason. */
function useToolChange(tool: Tool) {
  const client = useQueryClient();
  const { queryKey } = toolQuery(tool.id);
  return useMutation({
    mutationFn: ({ change }: { readonly change: ToolChange; readonly shown?: Partial<Tool> }) =>
      change.confirm === undefined ? changeToolWithUndo(client, tool, change) : changeTool(tool.id, change),
    onMutate: async ({ shown = {} }) => {
      await client.cancelQueries({ queryKey });
      const before = client.getQueryData(queryKey);
      client.setQueryData(queryKey, (now) => now && { ...now, ...shown });
      return { before };
    },
    onError: (_error, _change, context) => client.setQueryData(queryKey, context?.before),
    onSuccess: (changed) => client.setQueryData(queryKey, changed),
    onSettled: () => client.invalidateQueries({ queryKey: ['tools'] }),
  });
}

function Title({ tool }: { readonly tool: Tool }): ReactNode {
  const isAdmin = useIsAdmin();
  const change = useToolChange(tool);
  const shown = tool.title ?? '';
  const draft = useDraft<string | undefined>(`title of ${tool.id}`, undefined);
  const text = draft.value ?? shown;
  const title = text.trim();
  return (
    <form
      className="add-form"
      onSubmit={(event) => {
        event.preventDefault();
        const value = title === '' ? null : title;
        change.mutate({ change: { title: value } }, { onSuccess: () => draft.saved(draft.value) });
      }}
    >
      <TextInput
        label="Title"
        description="The title that clients display. Empty: the server’s own title."
        placeholder={tool.name}
        maxLength={255}
        disabled={!isAdmin}
        value={text}
        onChange={(event) => draft.set(event.currentTarget.value)}
      />
      {change.isError && <Failed error={change.error} />}
      {isAdmin && title !== shown && (
        <div className="actions-line">
          <Button type="submit" loading={change.isPending}>
            Save the title
          </Button>
        </div>
      )}
    </form>
  );
}

const CONFIRM_LABELS = {
  always: 'each call',
  first: 'the first call of a session',
  never: 'no call',
} as const;

function Confirming({ tool }: { readonly tool: Tool }): ReactNode {
  const isAdmin = useIsAdmin();
  const change = useToolChange(tool);
  const { confirm } = tool;
  const value = confirm === 'suspended' ? '' : (confirm ?? '');
  const choose = (next: string): void => {
    const wanted = next === '' ? null : (next as keyof typeof CONFIRM_LABELS);
    const { confirm, ...others } = tool;
    const shown = wanted === null ? others : { ...others, confirm: wanted };
    const undone = value === '' ? null : value;
    const onSuccess = (): void =>
      notify({
        text: `Confirmation of ${tool.title ?? tool.name} changed`,
        undo: () => change.mutate({ change: { confirm: undone } }),
      });
    change.mutate({ change: { confirm: wanted }, shown }, { onSuccess });
  };
  return (
    <div className="add-form">
      <NativeSelect
        label="A person confirms"
        description="Applies where rules and preferences leave it to the tool. Destructive tools need an approval for every call regardless."
        disabled={!isAdmin || change.isPending}
        value={value}
        onChange={(event) => choose(event.currentTarget.value)}
        data={[
          { value: '', label: 'Inherit from policy.confirm' },
          ...Object.entries(CONFIRM_LABELS).map(([key, label]) => ({ value: key, label })),
        ]}
      />
      {confirm === 'suspended' && (
        <p className="small bad">
          This setting is suspended: the definition of the tool has changed and needs a review.
        </p>
      )}
      {change.isError && <Failed error={change.error} />}
    </div>
  );
}

function Annotations({ tool }: { readonly tool: Tool }): ReactNode {
  const isAdmin = useIsAdmin();
  const change = useToolChange(tool);
  const shown = formatAnnotations(tool);
  const draft = useDraft<string | undefined>(`annotations of ${tool.id}`, undefined);
  const text = draft.value ?? shown;
  const edited = readEditedAnnotations(tool, text);
  const fault = 'fault' in edited ? edited.fault : change.isError ? refusedText(change.error) : undefined;
  const isChanged = text !== shown;
  return (
    <form
      className="add-form"
      onSubmit={(event) => {
        event.preventDefault();
        if ('fault' in edited) return;
        const { change: annotations } = edited;
        change.mutate({ change: { annotations } }, { onSuccess: () => draft.saved(draft.value) });
      }}
    >
      <Textarea
        label="Annotations as JSON"
        description="As sent to clients. Changes are stored as overrides. A hint that you leave out is inherited; the title has a field of its own."
        className="json"
        rows={8}
        maxLength={20_000}
        spellCheck={false}
        disabled={!isAdmin}
        error={fault}
        value={text}
        onChange={(event) => {
          change.reset();
          draft.set(event.currentTarget.value);
        }}
      />
      {isAdmin && isChanged && (
        <div className="actions-line">
          <Button type="submit" loading={change.isPending} disabled={'fault' in edited}>
            Save the annotations
          </Button>
          <Button variant="default" onClick={() => draft.discard()}>
            Discard
          </Button>
        </div>
      )}
    </form>
  );
}

/** `readOnlyHint: …` for each invalid member. */
function refusedText(error: unknown): string {
  if (!(error instanceof ApiError) || error.fields.length === 0) return formatError(error);
  return error.fields
    .map(({ pointer = '', detail }) => [pointer.split('/')[2], detail].filter(Boolean).join(': '))
    .join('\n');
}
