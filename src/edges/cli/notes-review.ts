import { counted } from '../../core/counted.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '../../core/result.ts';
import { LOCAL } from '../../core/subject.ts';
import { acceptNotes } from '../../core/toolset.ts';
import type { Changing, Toolsets } from '../../gateway/services/toolsets/toolsets.ts';
import { NOTE_HEAD, noteRow, placedNoteJson, placedNotes, type PlacedNote } from './note-rows.ts';
import { print, printError, printJson } from './output.ts';
import type { Runtime } from './runtime.ts';
import { tableOf } from './table.ts';
import { type JsonOptions, withToolsets } from './with-opened.ts';

export interface ReviewNotesOptions extends JsonOptions {
  readonly acceptAll?: boolean;
}

/** `assay notes review`: the notes that are held for review; with `--accept-all` these and no others are accepted. */
export function reviewNotes(runtime: Runtime, options: ReviewNotesOptions): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsets }) => {
    const { acceptAll = false, json = false } = options;
    const held = placedNotes(toolsets.all).filter(({ note }) => note.isHeld);
    const accepted = acceptAll ? await accept(toolsets, held) : ok(undefined);
    if (!accepted.ok) return accepted;
    const shown = acceptAll ? held.map((one) => ({ ...one, note: { ...one.note, isHeld: false } })) : held;
    if (json) printJson({ notes: shown.map(placedNoteJson) });
    else print(tableOf(NOTE_HEAD, shown.map(noteRow)));
    printError(closing(held.length, acceptAll));
    return ok(undefined);
  });
}

async function accept(toolsets: Toolsets, held: readonly PlacedNote[]): Promise<Result<undefined, Refusal>> {
  for (const name of new Set(held.map(({ toolset }) => toolset))) {
    const meant = new Set(held.filter(({ toolset }) => toolset === name).map(keyOf));
    const accepting: Changing<undefined> = (toolset) => {
      const accepted = acceptNotes(toolset, (note, tool) => meant.has(keyOf({ tool, note })));
      return ok({ toolset: accepted, value: undefined });
    };
    const changed = await toolsets.change(name, accepting, LOCAL.subject);
    if (!changed.ok) return changed;
  }
  return ok(undefined);
}

/** By its text, too: what somebody writes meanwhile was not shown. */
function keyOf({ tool, note }: Omit<PlacedNote, 'toolset'>): string {
  return JSON.stringify([tool, note.name, note.note]);
}

function closing(count: number, isAccepted: boolean): string {
  if (count === 0) return 'No note is held for review.';
  if (isAccepted) return `Accepted ${counted(count, 'note')}: models read them from now on.`;
  return `${counted(count, 'note')} held for review. \`assay notes accept\` lets models read one, \`assay notes reject\` deletes it.`;
}
