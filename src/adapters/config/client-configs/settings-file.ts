import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { readWhole, removeUnlessChanged, writeUnlessChanged } from '../../../platform/files.ts';
import { positionOf, type SyntaxFault } from '../json-tree.ts';

/** A file of settings that is to be edited, its other bytes kept. */
export interface SettingsFile {
  readonly path: string;
  /** Without a byte order mark, for parsers. */
  readonly text: string;
  /** What stood before it. */
  readonly mark: string;
  readonly mode: number;
  /** Whether nothing was there. */
  readonly isNew: boolean;
}

/** Another program wrote the file between its reading and its writing. */
export interface Disturbed {
  readonly code: 'DISTURBED';
  readonly path: string;
}

const MOST_TRIES = 3;

/**
 * Reads, edits and writes anew where another program came in between: clients write their files whenever they like.
 * Refused with FILE_UNWRITABLE where that goes on.
 */
export async function undisturbed<T>(
  attempt: () => Promise<Result<T, Refusal | Disturbed>>,
): Promise<Result<T, Refusal>> {
  for (let tries = 1; ; tries += 1) {
    const done = await attempt();
    if (done.ok) return done;
    const { error } = done;
    if (error.code !== 'DISTURBED') return err(error);
    if (tries === MOST_TRIES)
      return err(unwritable(error.path, 'it is being changed by another program; try again'));
  }
}

/** Undefined where there is no such file. Refused with CONFIG_UNREADABLE. */
export async function readSettings(path: string): Promise<Result<SettingsFile | undefined, Refusal>> {
  const whole = await readWhole(path);
  if (!whole.ok) return err({ code: 'CONFIG_UNREADABLE', path, reason: whole.error.reason });
  if (whole.value === undefined) return ok(undefined);
  const { text, mode } = whole.value;
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  return ok({ path, text: text.slice(mark.length), mark, mode, isNew: false });
}

/** All that was read of it. */
export function wholeOf({ mark, text }: Pick<SettingsFile, 'mark' | 'text'>): string {
  return mark + text;
}

/** Puts `whole` in the place of what was read. Refused with FILE_UNWRITABLE. */
export async function writeSettings(
  file: SettingsFile,
  whole: string,
): Promise<Result<undefined, Refusal | Disturbed>> {
  const { path, mode, isNew } = file;
  return outcomeOf(
    path,
    await writeUnlessChanged(path, isNew ? undefined : wholeOf(file), { text: whole, mode }),
  );
}

/** Removes the file as it was read. Refused with FILE_UNWRITABLE. */
export function removeSettings(file: SettingsFile): Result<undefined, Refusal | Disturbed> {
  return outcomeOf(file.path, removeUnlessChanged(file.path, wholeOf(file)));
}

function outcomeOf(
  path: string,
  done: ReturnType<typeof removeUnlessChanged> | Awaited<ReturnType<typeof writeUnlessChanged>>,
): Result<undefined, Refusal | Disturbed> {
  if (!done.ok) return err(unwritable(path, done.error.reason));
  return done.value === 'changed' ? err({ code: 'DISTURBED', path }) : ok(undefined);
}

export function unwritable(path: string, reason: string): Refusal {
  return { code: 'FILE_UNWRITABLE', path, reason };
}

export function invalidSettings(path: string, text: string, { offset, reason }: SyntaxFault): Refusal {
  const { line, column } = positionOf(text, offset);
  return { code: 'CONFIG_INVALID', path, reason: `line ${line}, column ${column}: ${reason}` };
}
