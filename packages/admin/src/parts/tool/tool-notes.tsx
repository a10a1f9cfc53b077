import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { StickyNote } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ToolNotes as Notes } from '../../../../gateway/src/api/note.ts';
import { findFieldError, isToldAt } from '../../state/api.ts';
import { useDraft } from '../../state/drafts.ts';
import { addNote, toolNotesQuery } from '../../state/notes.ts';
import { useIsAdmin } from '../../state/session.ts';
import { HostileText } from '../hostile-text.tsx';
import { Empty, Failed, LoadingRows } from '../states.tsx';
import { NoteEditor } from './note-editor.tsx';

/** The notes on a tool, by toolset, and the description that models read with them. */
export function ToolNotes({ tool }: { readonly tool: string }): ReactNode {
  const notes = useQuery(toolNotesQuery(tool));
  if (notes.isPending) return <LoadingRows count={3} />;
  if (notes.isError) return <Failed error={notes.error} onRetry={() => void notes.refetch()} />;
  const { descriptions } = notes.data;
  if (descriptions.length === 0 && notes.data.notes.length === 0)
    return (
      <Empty icon={<StickyNote size={32} aria-hidden />} title="Not in a toolset">
        A note belongs to a tool in a toolset, and models that use the toolset read it. Add the tool to{' '}
        <Link to="/toolsets">a toolset</Link> first.
      </Empty>
    );
  const names = new Set([...descriptions, ...notes.data.notes].map(({ toolset }) => toolset));
  return (
    <>
      {[...names].map((name) => (
        <InToolset key={name} tool={tool} toolset={name} all={notes.data} />
      ))}
      <AddNote tool={tool} toolsets={descriptions.map(({ toolset }) => toolset)} />
    </>
  );
}

interface InToolsetProps {
  readonly tool: string;
  readonly toolset: string;
  readonly all: Notes;
}

function InToolset({ tool, toolset, all }: InToolsetProps): ReactNode {
  const notes = all.notes.filter((note) => note.toolset === toolset);
  const seen = all.descriptions.find((one) => one.toolset === toolset);
  return (
    <section aria-label={`In the toolset ${toolset}`}>
      <h2>
        In the toolset <HostileText text={toolset} />
      </h2>
      {notes.length === 0 && <p className="quiet">No notes.</p>}
      <div className="rows">
        {notes.map((note, at) => (
          <NoteEditor
            key={note.name}
            target={{ tool, toolset, note: note.name }}
            note={note}
            position={at + 1}
            count={notes.length}
          />
        ))}
      </div>
      {seen === undefined ? (
        <p className="quiet small">
          The tool is currently not in this toolset; its notes apply again if it is added.
        </p>
      ) : (
        <details open>
          <summary>The description as models read it</summary>
          <pre className="arguments" tabIndex={0} aria-label={`Description in ${toolset}`}>
            <HostileText text={seen.description} />
          </pre>
        </details>
      )}
    </section>
  );
}

const FIELDS = ['toolset', 'name', 'note'];

function AddNote({
  tool,
  toolsets,
}: {
  readonly tool: string;
  readonly toolsets: readonly string[];
}): ReactNode {
  const client = useQueryClient();
  const isAdmin = useIsAdmin();
  const [first = ''] = toolsets;
  const draft = useDraft(`note on ${tool}`, { toolset: first, name: '', note: '' });
  const toolset = toolsets.includes(draft.value.toolset) ? draft.value.toolset : first;
  const adding = useMutation({
    mutationFn: (note: typeof draft.value) => addNote(tool, { ...note, toolset }),
    onSuccess: (notes, sent) => {
      draft.saved(sent);
      client.setQueryData(toolNotesQuery(tool).queryKey, notes);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['toolsets'] }),
  });
  if (!isAdmin || first === '') return null;
  const set = (part: Partial<typeof draft.value>): void => draft.set({ ...draft.value, ...part });
  return (
    <form
      className="add-form"
      aria-label="Add a note"
      onSubmit={(event) => {
        event.preventDefault();
        if (!adding.isPending) adding.mutate(draft.value);
      }}
    >
      <h2>Add a note</h2>
      <div className="note-place">
        <TextInput
          label="Name"
          placeholder="units"
          maxLength={64}
          value={draft.value.name}
          error={findFieldError(adding.error, 'name')}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <NativeSelect
          label="Toolset"
          value={toolset}
          onChange={(event) => set({ toolset: event.currentTarget.value })}
          data={[...toolsets]}
        />
      </div>
      <Textarea
        label="Note"
        placeholder="What a model should know before it calls this tool"
        rows={3}
        maxLength={2_000}
        value={draft.value.note}
        error={findFieldError(adding.error, 'note')}
        onChange={(event) => set({ note: event.currentTarget.value })}
      />
      {adding.isError && !isToldAt(adding.error, FIELDS) && <Failed error={adding.error} />}
      <div className="actions-line">
        <Button
          type="submit"
          loading={adding.isPending}
          disabled={draft.value.name.trim() === '' || draft.value.note.trim() === ''}
        >
          Add
        </Button>
      </div>
    </form>
  );
}
