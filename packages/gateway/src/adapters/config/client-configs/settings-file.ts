import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import {
  findLinkBelow,
  readWhole,
  removeUnlessChanged,
  writeUnlessChanged,
} from '@assay-mcp/kit/platform/files';
import { toPosition, type SyntaxFault } from '../json-tree.ts';

/** A settings file for edits that leave its other bytes untouched. */
export interface SettingsFile {
  readonly path: string;
  /** Without a byte order mark, for parsers. */
  readonly text: string;
  /** The byte order mark, or empty. */
  readonly mark: string;
  readonly mode: number;
  /** Whether the file does not exist yet. */
  readonly isNew: boolean;
}

/** Another program changed the file after it was read. */
export interface ConcurrentChange {
  readonly code: 'DISTURBED';
  readonly path: string;
}

const MAX_ATTEMPTS = 3;

/**
 * Retries a read-edit-write cycle if another program changed the file meanwhile: clients write their files at any time.
 * FILE_UNWRITABLE if that keeps happening.
 */
export async function retryOnChange<T>(
  attempt: () => Promise<Result<T, Refusal | ConcurrentChange>>,
): Promise<Result<T, Refusal>> {
  for (let tries = 1; ; tries += 1) {
    const done = await attempt();
    if (done.ok) return done;
    const { error } = done;
    if (error.code !== 'DISTURBED') return err(error);
    if (tries === MAX_ATTEMPTS)
      return err(toUnwritableRefusal(error.path, 'it is being changed by another program; try again'));
  }
}

/**
 * Undefined if the file does not exist. Links below a given project folder are refused. CONFIG_UNREADABLE on failure.
 */
export async function readSettings(
  path: string,
  project?: string,
): Promise<Result<SettingsFile | undefined, Refusal>> {
  const link = project === undefined ? undefined : await findLinkBelow(project, path);
  if (link !== undefined) return err({ code: 'CONFIG_UNREADABLE', path, reason: link });
  const whole = await readWhole(path);
  if (!whole.ok) return err({ code: 'CONFIG_UNREADABLE', path, reason: whole.error.reason });
  if (whole.value === undefined) return ok(undefined);
  const { text, mode } = whole.value;
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  return ok({ path, text: text.slice(mark.length), mark, mode, isNew: false });
}

/** The whole content, including the byte order mark. */
export function getWholeText({ mark, text }: Pick<SettingsFile, 'mark' | 'text'>): string {
  return mark + text;
}

/** Replaces the content that was read with `whole`. FILE_UNWRITABLE on failure. */
export async function writeSettings(
  file: SettingsFile,
  whole: string,
): Promise<Result<undefined, Refusal | ConcurrentChange>> {
  const { path, mode, isNew } = file;
  return outcomeOf(
    path,
    await writeUnlessChanged(path, isNew ? undefined : getWholeText(file), { text: whole, mode }),
  );
}

/** Removes the file unless it changed since it was read. FILE_UNWRITABLE on failure. */
export function removeSettings(file: SettingsFile): Result<undefined, Refusal | ConcurrentChange> {
  return outcomeOf(file.path, removeUnlessChanged(file.path, getWholeText(file)));
}

function outcomeOf(
  path: string,
  done: ReturnType<typeof removeUnlessChanged> | Awaited<ReturnType<typeof writeUnlessChanged>>,
): Result<undefined, Refusal | ConcurrentChange> {
  if (!done.ok) return err(toUnwritableRefusal(path, done.error.reason));
  return done.value === 'changed' ? err({ code: 'DISTURBED', path }) : ok(undefined);
}

export function toUnwritableRefusal(path: string, reason: string): Refusal {
  return { code: 'FILE_UNWRITABLE', path, reason };
}

export function toSettingsRefusal(path: string, text: string, { offset, reason }: SyntaxFault): Refusal {
  const { line, column } = toPosition(text, offset);
  return { code: 'CONFIG_INVALID', path, reason: `line ${line}, column ${column}: ${reason}` };
}
