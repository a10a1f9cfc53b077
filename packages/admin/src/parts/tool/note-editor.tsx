import { ActionIcon, Button, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ArrowDown, ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Note } from '../../../../gateway/src/api/note.ts';
import { findFieldError, isToldAt } from '../../state/api.ts';
import { useDraft } from '../../state/drafts.ts';
import { deleteNoteWithUndo, moveNote } from '../../state/notes.ts';
import { useIsAdmin } from '../../state/session.ts';
import { acceptNote, editNote, type NoteTarget } from '../../state/toolsets.ts';
import { HostileText } from '../hostile-text.tsx';
import { Failed } from '../states.tsx';
import { When } from '../when.tsx';

interface NoteEditorProps {
  readonly target: NoteTarget;
  readonly note: Note;
  /** Counts from 1. */
  readonly position: number;
  readonly count: number;
}

/** One note: its author, its text, and the operator's actions. */
export function NoteEditor({ target, note, position, count }: NoteEditorProps): ReactNode {
  const client = useQueryClient();
  const isAdmin = useIsAdmin();
  const editing = useDraft<string | undefined>(
    `note ${target.note} on ${target.tool} in ${target.toolset}`,
    undefined,
  );
  const acting = useMutation({
    mutationFn: (act: () => Promise<unknown>) => act(),
    onSettled: () => client.invalidateQueries({ queryKey: ['toolsets'] }),
  });
  const isEditing = editing.value !== undefined;
  return (
    <div className="note-item" role="group" aria-label={`Note ${note.name}`}>
      <p>
        <strong>
          <HostileText text={note.name} />
        </strong>{' '}
        <span className="quiet small">
          {note.by === 'model' ? 'a model, as ' : ''}
          <HostileText text={note.author} />, <When at={note.writtenAt} />
        </span>
        {note.isHeld && <span className="badge review">Held</span>}
      </p>
      {isEditing ? (
        <EditForm
          text={editing.value}
          error={acting.error}
          isBusy={acting.isPending}
          onChange={editing.set}
          onCancel={() => {
            acting.reset();
            editing.discard();
          }}
          onSave={() =>
            acting.mutate(() => editNote(target, editing.value ?? ''), {
              onSuccess: () => editing.saved(editing.value),
            })
          }
        />
      ) : (
        <p className="description">
          <HostileText text={note.note} />
        </p>
      )}
      {note.isHeld && <p className="small bad">Models cannot see it until it is accepted.</p>}
      {acting.isError && !isEditing && <Failed error={acting.error} />}
      {isAdmin && !isEditing && (
        <div className="actions-line">
          {note.isHeld && (
            <Button
              size="compact-xs"
              disabled={acting.isPending}
              onClick={() => acting.mutate(() => acceptNote(target, note.note))}
            >
              Accept
            </Button>
          )}
          <Button size="compact-xs" variant="default" onClick={() => editing.set(note.note)}>
            Edit
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            disabled={acting.isPending}
            onClick={() => acting.mutate(() => deleteNoteWithUndo(client, target, note))}
          >
            {note.isHeld ? 'Reject' : 'Delete'}
          </Button>
          {count > 1 && (
            <>
              <Move
                label={`Move ${note.name} up`}
                icon={<ArrowUp size={14} aria-hidden />}
                isDisabled={position === 1 || acting.isPending}
                onMove={() => acting.mutate(() => moveNote(target, position - 1))}
              />
              <Move
                label={`Move ${note.name} down`}
                icon={<ArrowDown size={14} aria-hidden />}
                isDisabled={position === count || acting.isPending}
                onMove={() => acting.mutate(() => moveNote(target, position + 1))}
              />
            </>
          )}
        </div>
      )}
    </div>
  );
}

interface MoveProps {
  readonly label: string;
  readonly icon: ReactNode;
  readonly isDisabled: boolean;
  readonly onMove: () => void;
}

function Move({ label, icon, isDisabled, onMove }: MoveProps): ReactNode {
  return (
    <ActionIcon variant="default" size={22} aria-label={label} disabled={isDisabled} onClick={onMove}>
      {icon}
    </ActionIcon>
  );
}

interface EditFormProps {
  readonly text: string;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
  readonly onCancel: () => void;
}

function EditForm({ text, error, isBusy, onChange, onSave, onCancel }: EditFormProps): ReactNode {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSave();
      }}
    >
      <Textarea
        aria-label="Text of the note"
        rows={3}
        maxLength={2_000}
        autoFocus
        value={text}
        error={findFieldError(error, 'note')}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      {error !== null && error !== undefined && !isToldAt(error, ['note']) && <Failed error={error} />}
      <div className="actions-line">
        <Button size="compact-xs" type="submit" loading={isBusy} disabled={text.trim() === ''}>
          Save
        </Button>
        <Button size="compact-xs" variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
