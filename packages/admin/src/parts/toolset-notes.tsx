import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { StickyNote } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Toolset, ToolsetNote } from '../../../gateway/src/api/toolset.ts';
import { useIsAdmin } from '../state/session.ts';
import { acceptNote, deleteNote, type NoteTarget } from '../state/toolsets.ts';
import { HostileText } from './hostile-text.tsx';
import { Empty, Failed } from './states.tsx';
import { When } from './when.tsx';

export function ToolsetNotes({ toolset }: { readonly toolset: Toolset }): ReactNode {
  const { name, toolNotes } = toolset;
  if (toolNotes.length === 0)
    return (
      <Empty icon={<StickyNote size={32} aria-hidden />} title="No notes">
        A note is appended to the description of a tool for models that use this toolset. Notes are written by
        models, and by <code>assay notes add</code>.
      </Empty>
    );
  return toolNotes.map(({ toolRef: { namespacedName }, notes }) => (
    <section key={namespacedName} aria-label={`Notes on ${namespacedName}`}>
      <h2>
        <code>
          <HostileText text={namespacedName} />
        </code>
      </h2>
      <div className="rows">
        {notes.map((note) => (
          <NoteRow
            key={note.name}
            target={{ tool: namespacedName, toolset: name, note: note.name }}
            note={note}
          />
        ))}
      </div>
    </section>
  ));
}

interface NoteRowProps {
  readonly target: NoteTarget;
  readonly note: ToolsetNote;
}

function NoteRow({ target, note }: NoteRowProps): ReactNode {
  const client = useQueryClient();
  const isAdmin = useIsAdmin();
  const onSettled = (): Promise<void> => client.invalidateQueries({ queryKey: ['toolsets'] });
  const accepting = useMutation({ mutationFn: () => acceptNote(target, note.note), onSettled });
  const deleting = useMutation({ mutationFn: () => deleteNote(target), onSettled });
  const isHeld = note.isHeld === true;
  return (
    <div className="row note">
      <div className="grow">
        <strong>
          <HostileText text={note.name} />
        </strong>{' '}
        <span className="quiet small">
          {note.by === 'model' ? 'a model, as ' : ''}
          <HostileText text={note.author} />, <When at={note.writtenAt} />
        </span>
        <p className="description">
          <HostileText text={note.note} />
        </p>
        {isHeld && <p className="small bad">Models cannot see it until it is accepted.</p>}
        {accepting.isError && <Failed error={accepting.error} />}
        {deleting.isError && <Failed error={deleting.error} />}
      </div>
      {isAdmin && isHeld && (
        <Button size="compact-xs" loading={accepting.isPending} onClick={() => accepting.mutate()}>
          Accept
        </Button>
      )}
      {isAdmin && (
        <Button
          size="compact-xs"
          variant="default"
          loading={deleting.isPending}
          onClick={() => deleting.mutate()}
        >
          {isHeld ? 'Reject' : 'Delete'}
        </Button>
      )}
    </div>
  );
}
