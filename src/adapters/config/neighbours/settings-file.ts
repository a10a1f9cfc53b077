import type { Refusal } from '../../../core/errors.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { readWhole, writeAtomically } from '../../../platform/files.ts';
import { positionOf, type SyntaxFault } from '../json-tree.ts';

/** A file of settings that is to be edited, its other bytes kept. */
export interface SettingsFile {
  readonly path: string;
  /** Without a byte order mark, for parsers. */
  readonly text: string;
  /** What stood before it. */
  readonly mark: string;
  readonly mode: number;
}

/** Undefined where there is no such file. Refused with CONFIG_UNREADABLE. */
export async function readSettings(path: string): Promise<Result<SettingsFile | undefined, Refusal>> {
  const whole = await readWhole(path);
  if (!whole.ok) return err({ code: 'CONFIG_UNREADABLE', path, reason: whole.error.reason });
  if (whole.value === undefined) return ok(undefined);
  const { text, mode } = whole.value;
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  return ok({ path, text: text.slice(mark.length), mark, mode });
}

/** Puts another text into the file. Refused with FILE_UNWRITABLE. */
export async function writeSettings(file: SettingsFile, text: string): Promise<Result<undefined, Refusal>> {
  const written = await writeAtomically(file.path, file.mark + text, file.mode);
  return written.ok ? ok(undefined) : err(unwritable(file.path, written.error.reason));
}

export function unwritable(path: string, reason: string): Refusal {
  return { code: 'FILE_UNWRITABLE', path, reason };
}

export function invalidSettings(path: string, text: string, { offset, reason }: SyntaxFault): Refusal {
  const { line, column } = positionOf(text, offset);
  return { code: 'CONFIG_INVALID', path, reason: `line ${line}, column ${column}: ${reason}` };
}
