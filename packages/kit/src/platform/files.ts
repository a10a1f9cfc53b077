import { isUtf8 } from 'node:buffer';
import { type BigIntStats, lstatSync, renameSync, rmSync, statSync } from 'node:fs';
import {
  chmod,
  constants,
  copyFile,
  link,
  lstat,
  mkdir,
  open,
  realpath,
  rename,
  rm,
  stat,
  type FileHandle,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MAX_TEXT_BYTES, readBytesWithin, readBytesWithinNow } from './bounded-file.ts';
import { getErrorCode, formatFileError } from './file-error.ts';

/** Why a file could not be read or written, as the end of a sentence: "there is no such file". */
export interface FileTrouble {
  readonly reason: string;
}

/** Like `Result` in core/, which this folder must not import. */
type Outcome<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: FileTrouble };

/** The text of a regular UTF-8 file of at most `maxBytes`, without a leading byte order mark. */
export async function readText(path: string, maxBytes: number = MAX_TEXT_BYTES): Promise<Outcome<string>> {
  return toText(await readBytesWithin(path, maxBytes));
}

/** The same, synchronously, for the few files that are read at start. */
export function readTextNow(path: string, maxBytes: number = MAX_TEXT_BYTES): Outcome<string> {
  return toText(readBytesWithinNow(path, maxBytes));
}

function toText(read: ReturnType<typeof readBytesWithinNow>): Outcome<string> {
  if (!read.ok) return failed(read.error.reason);
  const { bytes } = read.value;
  if (!isUtf8(bytes)) return failed('it is not UTF-8 text');
  return { ok: true, value: bytes.toString('utf8').replace(/^\uFEFF/, '') };
}

/** A UTF-8 file with its full content, including a byte order mark. */
export interface WholeFile {
  readonly text: string;
  /** The permission bits. */
  readonly mode: number;
}

/** Reads a file that will be written back unchanged in form. Undefined if it does not exist. */
export async function readWhole(path: string): Promise<Outcome<WholeFile | undefined>> {
  const read = await readBytesWithin(path, MAX_TEXT_BYTES);
  if (!read.ok) {
    if (read.error.code !== 'ENOENT') return failed(read.error.reason);
    // Replacing a dangling link with a file would break the user's link.
    const isLink = isThere(path);
    return isLink ? failed('it is a link to a file that is not there') : { ok: true, value: undefined };
  }
  const { bytes, facts } = read.value;
  if (!isUtf8(bytes)) return failed('it is not UTF-8 text');
  return { ok: true, value: { text: bytes.toString('utf8'), mode: facts.mode & 0o777 } };
}

export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Removes a file if it still contains `former`. */
export function removeUnlessChanged(path: string, former: string): Outcome<'removed' | 'changed'> {
  try {
    if (!holds(path, former)) return { ok: true, value: 'changed' };
    rmSync(path);
    return { ok: true, value: 'removed' };
  } catch (error) {
    return failed(formatFileError(error));
  }
}

export async function removeFile(path: string): Promise<Outcome<undefined>> {
  try {
    await rm(path);
    return { ok: true, value: undefined };
  } catch (error) {
    return failed(formatFileError(error));
  }
}

/**
 * Writes `text` in one step: after a crash at any moment, the file is either the old or the new one, complete. The
 * file's mode becomes `mode`. A symbolic link is kept and its target written.
 */
export async function writeAtomically(path: string, text: string, mode: number): Promise<Outcome<undefined>> {
  const put = await replace(path, { text, mode }, (draft, target) => {
    renameSync(draft, target);
    return true;
  });
  return put.ok ? { ok: true, value: undefined } : put;
}

/**
 * The same, but only if the file still contains `former`, or is still absent if that is undefined. No system has a
 * conditional rename: a write by another program between the last check and the rename is still lost.
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

/** Writes a draft and passes it to `publish`. Returns whether that renamed it. */
async function replace(
  path: string,
  { text, mode }: WholeFile,
  publish: (draft: string, target: string) => boolean,
): Promise<Outcome<boolean>> {
  const target = await resolveRealPath(path);
  const draft = join(dirname(target), `.${basename(target)}.${crypto.randomUUID()}.tmp`);
  try {
    await using(await open(draft, 'wx', mode), async (file) => {
      await file.writeFile(text);
      // Restores permission bits removed by the umask.
      await file.chmod(mode);
      await file.sync();
    });
    const isPublished = publish(draft, target);
    await (isPublished ? syncFolder(dirname(target)) : rm(draft));
    return { ok: true, value: isPublished };
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    return failed(formatFileError(error));
  }
}

/** Synchronous, so that the following step happens in the same turn of the event loop. */
function holds(path: string, text: string | undefined): boolean {
  const former = Buffer.from(text ?? '');
  const read = readBytesWithinNow(path, former.length);
  return read.ok ? text !== undefined && read.value.bytes.equals(former) : isAbsent(read.error, text);
}

/** A file that could not be read at all is an error; one that is longer now has only changed. */
function isAbsent(
  { code, reason }: { readonly code: string; readonly reason: string },
  text?: string,
): boolean {
  if (code === 'ENOENT') return text === undefined;
  if (code === '') return false;
  throw Object.assign(new Error(reason), { code });
}

/** Whether a file, folder or link exists at a path. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Why a file at `path` is not where its path says: it, or a folder between it and `folder`, is a link. A project that
 * somebody else wrote can have one, to a file of the user. Undefined if there is none.
 */
export async function findLinkBelow(folder: string, path: string): Promise<string | undefined> {
  for (let at = path; at.length > folder.length && at !== dirname(at); at = dirname(at)) {
    const found = await lstat(at).catch(() => undefined);
    if (found?.isSymbolicLink() === true)
      return `${JSON.stringify(at)} is a link, which is not followed in a project`;
  }
  return undefined;
}

/** The path with links resolved, or the path itself if nothing exists there. */
export function resolveRealPath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** Creates a folder and its parents, accessible only to this user. An existing folder is left unchanged. */
export async function ensureFolder(path: string): Promise<Outcome<undefined>> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    return { ok: true, value: undefined };
  } catch (error) {
    return failed(formatFileError(error));
  }
}

/** Creates an empty file that only this user can read and write. On an existing file, others lose their access. */
export async function ensurePrivateFile(path: string): Promise<Outcome<undefined>> {
  try {
    await using(await open(path, 'wx', 0o600), () => Promise.resolve());
  } catch (error) {
    if (getErrorCode(error) !== 'EEXIST') return failed(formatFileError(error));
  }
  try {
    const found = await stat(path);
    if (found.isDirectory()) return failed('it is a folder');
    if ((found.mode & 0o077) !== 0) await chmod(path, 0o600);
    return { ok: true, value: undefined };
  } catch (error) {
    return failed(formatFileError(error));
  }
}

/** Creates a complete file that only this user can read and write. An existing file is left unchanged. */
export async function createPrivateFile(path: string, text: string): Promise<Outcome<'created' | 'exists'>> {
  const draft = join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}.tmp`);
  try {
    await using(await open(draft, 'wx', 0o600), async (file) => {
      await file.writeFile(text);
      await file.sync();
    });
    // Unlike rename, link never replaces an existing file.
    await link(draft, path);
    await syncFolder(dirname(path));
    return { ok: true, value: 'created' };
  } catch (error) {
    return getErrorCode(error) === 'EEXIST' ? { ok: true, value: 'exists' } : failed(formatFileError(error));
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

/**
 * Gives a complete file its name in one step, after its content is on the disk. Unless `replaces`, an existing file is
 * left unchanged.
 */
export async function publishFile(
  draft: string,
  path: string,
  { replaces }: { readonly replaces: boolean },
): Promise<Outcome<'published' | 'exists'>> {
  try {
    await using(await open(draft, 'r+'), (file) => file.sync());
    if (replaces) await rename(draft, path);
    else await linkOrCopy(draft, path);
    await syncFolder(dirname(path));
    await rm(draft, { force: true });
    return { ok: true, value: 'published' };
  } catch (error) {
    return getErrorCode(error) === 'EEXIST' ? { ok: true, value: 'exists' } : failed(formatFileError(error));
  }
}

/** Gives a file a second name, so that it is kept when the first one is replaced. */
export async function keepFile(path: string, keptAs: string): Promise<Outcome<undefined>> {
  try {
    await linkOrCopy(path, keptAs);
    await syncFolder(dirname(keptAs));
    return { ok: true, value: undefined };
  } catch (error) {
    return failed(formatFileError(error));
  }
}

/** Unlike rename, neither replaces a file. Some file systems have no links. */
async function linkOrCopy(path: string, other: string): Promise<void> {
  try {
    await link(path, other);
  } catch (error) {
    if (!CANNOT_LINK.has(getErrorCode(error))) throw error;
    await copyFile(path, other, constants.COPYFILE_EXCL);
    await using(await open(other, 'r+'), (file) => file.sync());
  }
}

const CANNOT_LINK: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Identifies a file across replacements under the same name, and detects changed content. */
export interface FileFacts {
  readonly id: string;
  readonly bytes: number;
  /** Time of the last write. */
  readonly writtenNs: bigint;
}

/** Undefined if the file does not exist. */
export async function readFileFacts(path: string): Promise<FileFacts | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && toFileFacts(found);
}

/** The same, synchronously, for use where no other event may come first. */
export function readFileFactsNow(path: string): FileFacts | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && toFileFacts(found);
}

export function toFileFacts({ dev, ino, size, mtimeNs }: BigIntStats): FileFacts {
  return { id: `${dev}:${ino}`, bytes: Number(size), writtenNs: mtimeNs };
}

/** A string that changes if the file is replaced or its content changes; empty if there is none. */
export function toFileMark(facts: FileFacts | undefined): string {
  return facts === undefined ? '' : `${facts.id} ${facts.bytes} ${facts.writtenNs}`;
}

/** Renames a file without replacing an existing one. Does nothing if the file does not exist. */
export async function moveFile(from: string, to: string): Promise<Outcome<undefined>> {
  try {
    if ((await lstat(to).catch(() => undefined)) !== undefined)
      return failed(`${JSON.stringify(to)} is there already`);
    await rename(from, to);
    return { ok: true, value: undefined };
  } catch (error) {
    return getErrorCode(error) === 'ENOENT' ? { ok: true, value: undefined } : failed(formatFileError(error));
  }
}

/** A rename is durable only after its folder is synced. Some systems cannot open folders; nothing can be done there. */
async function syncFolder(path: string): Promise<void> {
  try {
    await using(await open(path, 'r'), (folder) => folder.sync());
  } catch (error) {
    if (!CANNOT_SYNC_FOLDERS.has(getErrorCode(error))) throw error;
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

function failed(reason: string): Outcome<never> {
  return { ok: false, error: { reason } };
}
