import { isUtf8 } from 'node:buffer';
import { readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import {
  chmod,
  link,
  lstat,
  mkdir,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  type FileHandle,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Why a file could not be read or written, as the end of a sentence: "there is no such file". */
export interface FileTrouble {
  readonly reason: string;
}

/** A `Result` of core/, which this room does not know. */
type Outcome<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: FileTrouble };

/** The text of a UTF-8 file, without the byte order mark that some editors put in front. */
export async function readText(path: string): Promise<Outcome<string>> {
  try {
    const bytes = await readFile(path);
    if (!isUtf8(bytes)) return failed('it is no UTF-8 text');
    return { ok: true, value: bytes.toString('utf8').replace(/^\uFEFF/, '') };
  } catch (error) {
    return failed(reasonOf(error));
  }
}

/** A UTF-8 file with all that it holds, a byte order mark too. */
export interface WholeFile {
  readonly text: string;
  /** The permission bits. */
  readonly mode: number;
}

/** A file that is to be written again as it was. Undefined where there is none. */
export async function readWhole(path: string): Promise<Outcome<WholeFile | undefined>> {
  try {
    const bytes = await readFile(path);
    if (!isUtf8(bytes)) return failed('it is no UTF-8 text');
    const { mode } = await stat(path);
    return { ok: true, value: { text: bytes.toString('utf8'), mode: mode & 0o777 } };
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return failed(reasonOf(error));
    // A new file in the place of the link would cut what the user tied together.
    const isLink = await lstat(path).then(
      () => true,
      () => false,
    );
    return isLink ? failed('it is a link to a file that is not there') : { ok: true, value: undefined };
  }
}

export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Removes a file that still holds `former`. */
export function removeUnlessChanged(path: string, former: string): Outcome<'removed' | 'changed'> {
  try {
    if (!holds(path, former)) return { ok: true, value: 'changed' };
    rmSync(path);
    return { ok: true, value: 'removed' };
  } catch (error) {
    return failed(reasonOf(error));
  }
}

export async function removeFile(path: string): Promise<Outcome<undefined>> {
  try {
    await rm(path);
    return { ok: true, value: undefined };
  } catch (error) {
    return failed(reasonOf(error));
  }
}

/**
 * Puts `text` into the file in one step: after a crash at any moment the file is the old or the new one, whole.
 * `mode` is that of the file afterwards, whatever it was. A symbolic link stays one; the file that it names is written.
 */
export async function writeAtomically(path: string, text: string, mode: number): Promise<Outcome<undefined>> {
  const put = await replace(path, { text, mode }, async (draft, target) => {
    await rename(draft, target);
    return true;
  });
  return put.ok ? { ok: true, value: undefined } : put;
}

/**
 * The same where the file still holds `former`, or is still absent if that is undefined; otherwise nothing is done. No
 * system renames on a condition: what another program writes between the last look and the new name is still lost.
 */
export async function writeUnlessChanged(
  path: string,
  former: string | undefined,
  file: WholeFile,
): Promise<Outcome<'written' | 'changed'>> {
  const put = await replace(path, file, (draft, target) => {
    if (!holds(target, former)) return false;
    renameSync(draft, target);
    return true;
  });
  return put.ok ? { ok: true, value: put.value ? 'written' : 'changed' } : put;
}

/** Whether `place`, which gives the finished draft its name, did so. */
async function replace(
  path: string,
  { text, mode }: WholeFile,
  place: (draft: string, target: string) => boolean | Promise<boolean>,
): Promise<Outcome<boolean>> {
  const target = await realPath(path);
  const draft = join(dirname(target), `.${basename(target)}.${crypto.randomUUID()}.tmp`);
  try {
    await using(await open(draft, 'wx', mode), async (file) => {
      await file.writeFile(text);
      // What the umask took from the mode of the new file comes back here.
      await file.chmod(mode);
      await file.sync();
    });
    const isPlaced = await place(draft, target);
    await (isPlaced ? syncFolder(dirname(target)) : rm(draft));
    return { ok: true, value: isPlaced };
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    return failed(reasonOf(error));
  }
}

/** Asked without a turn of the event loop, so that what follows on the answer follows at once. */
function holds(path: string, text: string | undefined): boolean {
  try {
    return readFileSync(path).equals(Buffer.from(text ?? '')) && text !== undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return text === undefined;
    throw error;
  }
}

/** Whether anything stands under a path. */
export function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Where a path leads once its links are followed; the path itself where nothing is there. */
export function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** Makes a folder, and those above it, for this user alone; one that is there stays as it is. */
export async function ensureFolder(path: string): Promise<Outcome<undefined>> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    return { ok: true, value: undefined };
  } catch (error) {
    return failed(reasonOf(error));
  }
}

/** Makes an empty file that this user alone may read and write; of one that is there, others lose their rights. */
export async function ensurePrivateFile(path: string): Promise<Outcome<undefined>> {
  try {
    await using(await open(path, 'wx', 0o600), () => Promise.resolve());
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') return failed(reasonOf(error));
  }
  try {
    const found = await stat(path);
    if (found.isDirectory()) return failed('it is a folder');
    if ((found.mode & 0o077) !== 0) await chmod(path, 0o600);
    return { ok: true, value: undefined };
  } catch (error) {
    return failed(reasonOf(error));
  }
}

/** Makes a file, whole, that this user alone may read and write; of one that is there nothing changes. */
export async function createPrivateFile(
  path: string,
  text: string,
): Promise<Outcome<'created' | 'there already'>> {
  const draft = join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}.tmp`);
  try {
    await using(await open(draft, 'wx', 0o600), async (file) => {
      await file.writeFile(text);
      await file.sync();
    });
    // Unlike a new name, a link is never put in the place of another file.
    await link(draft, path);
    await syncFolder(dirname(path));
    return { ok: true, value: 'created' };
  } catch (error) {
    return codeOf(error) === 'EEXIST' ? { ok: true, value: 'there already' } : failed(reasonOf(error));
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

/** What tells a file from others that have its name later, and what it holds from what it held before. */
export interface FileFacts {
  readonly id: string;
  readonly bytes: number;
  /** When it was last written to. */
  readonly writtenNs: bigint;
}

/** Undefined where there is no such file. */
export async function fileFacts(path: string): Promise<FileFacts | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  if (found === undefined) return undefined;
  return { id: `${found.dev}:${found.ino}`, bytes: Number(found.size), writtenNs: found.mtimeNs };
}

/** The same at once, where what happens next must not come first. */
export function fileFactsNow(path: string): FileFacts | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && { id: `${found.dev}:${found.ino}`, bytes: Number(found.size), writtenNs: found.mtimeNs };
}

/** Another text for a file that is another one, or has other content; '': there is none. */
export function fileMarkOf(facts: FileFacts | undefined): string {
  return facts === undefined ? '' : `${facts.id} ${facts.bytes} ${facts.writtenNs}`;
}

/** Gives a file another name, but never that of one that is there. Where there is no such file, nothing is done. */
export async function moveFile(from: string, to: string): Promise<Outcome<undefined>> {
  try {
    if ((await lstat(to).catch(() => undefined)) !== undefined)
      return failed(`${JSON.stringify(to)} is there already`);
    await rename(from, to);
    return { ok: true, value: undefined };
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? { ok: true, value: undefined } : failed(reasonOf(error));
  }
}

/** The new name lasts once the folder that holds it is on the disk. Some systems cannot open folders; then nothing can be done. */
async function syncFolder(path: string): Promise<void> {
  try {
    await using(await open(path, 'r'), (folder) => folder.sync());
  } catch (error) {
    if (!CANNOT_SYNC_FOLDERS.has(codeOf(error))) throw error;
  }
}

async function using(file: FileHandle, work: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(file);
  } finally {
    await file.close();
  }
}

const CANNOT_SYNC_FOLDERS: ReadonlySet<string> = new Set(['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP']);

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file or folder'],
  ['ENOTDIR', 'a part of its path is no folder'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'operation not permitted'],
  ['ENOSPC', 'the disk is full'],
  ['EROFS', 'the file system is read-only'],
  ['ELOOP', 'its links go round in a circle'],
]);

function failed(reason: string): Outcome<never> {
  return { ok: false, error: { reason } };
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  return REASONS.get(code) ?? `the system says ${code}`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'an unknown error';
}
