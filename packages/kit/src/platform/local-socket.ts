import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import process from 'node:process';
import { getErrorCode, formatFileError } from './file-error.ts';

/** Where a socket for this user may be. */
export interface SocketPlace {
  /** The data folder; the socket is in `run/`, a folder that only this user can enter. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface LocalSocket {
  /** A path, or the name of a pipe on Windows. */
  readonly path: string;
  /** Removes what closing the server leaves behind. */
  remove(): Promise<void>;
}

type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: { readonly reason: string } };

/** The address of a socket takes 108 bytes on Linux and 104 on macOS, with an end mark. */
const MAX_PATH_BYTES = 100;
/** More than one if several gateways share a home. */
const NAMES: readonly string[] = ['serve.sock', ...[2, 3, 4, 5, 6, 7, 8, 9].map((n) => `serve-${n}.sock`)];

/**
 * Listens where only processes of this user can connect. A leftover socket of a dead process is replaced; one that
 * answers is left alone, and so is what is not a socket: then the next name is used.
 */
export async function listenLocally(server: Server, place: SocketPlace): Promise<Outcome<LocalSocket>> {
  // Pipes have no folder. The name cannot be guessed, so nobody can create it first.
  if (process.platform === 'win32') return listenAt(server, [`\\\\.\\pipe\\assay-${randomUUID()}`]);
  try {
    const own = join(place.home, 'run');
    if (fits(own)) {
      await ensureOwn(own);
      return await listenAt(server, pathsIn(own));
    }
    const folder = await mkdtemp(join(shortFolder(place.env), 'assay-'));
    const bound = fits(folder) ? await listenAt(server, pathsIn(folder)) : failed(`${folder} is too long`);
    const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
    if (!bound.ok) await remove();
    return bound.ok ? { ok: true, value: { ...bound.value, remove } } : bound;
  } catch (error) {
    return failed(error instanceof NotOurs ? error.message : formatFileError(error));
  }
}

function fits(folder: string): boolean {
  return pathsIn(folder).every((path) => Buffer.byteLength(path) <= MAX_PATH_BYTES);
}

function pathsIn(folder: string): readonly string[] {
  return NAMES.map((name) => join(folder, name));
}

function shortFolder({ XDG_RUNTIME_DIR: folder = '' }: SocketPlace['env']): string {
  return isAbsolute(folder) ? folder : tmpdir();
}

class NotOurs extends Error {}

/** Creates the folder, or checks that it is this user's and no link, and takes others' rights away. */
async function ensureOwn(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  const isOwn = found.isDirectory() && found.uid === process.getuid?.();
  if (!isOwn) throw new NotOurs(`${folder} is not a folder of this user`);
  if ((found.mode & 0o077) !== 0) await chmod(folder, 0o700);
}

async function listenAt(server: Server, paths: readonly string[]): Promise<Outcome<LocalSocket>> {
  for (const path of paths) {
    await removeLeftover(path);
    const fault = await bind(server, path);
    if (fault === 'EADDRINUSE') continue;
    if (fault !== undefined) return failed(`the system says ${fault}`);
    if (process.platform !== 'win32') await chmod(path, 0o600);
    return { ok: true, value: { path, remove: () => Promise.resolve() } };
  }
  return failed(`all names up to ${paths.at(-1) ?? ''} are taken`);
}

/** Returns the error code of a failure. */
function bind(server: Server, path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const onError = (error: Error): void => resolve(getErrorCode(error));
    server.once('error', onError);
    server.listen(path, () => {
      server.off('error', onError);
      resolve(undefined);
    });
  });
}

/** Removes a socket without a listener. */
async function removeLeftover(path: string): Promise<void> {
  const before = await socketAt(path);
  if (before === undefined || !(await isRefused(path))) return;
  // Another process may have replaced it meanwhile.
  if ((await socketAt(path)) === before) await rm(path, { force: true });
}

/** The inode of a socket. Undefined for anything else; links are not followed. */
async function socketAt(path: string): Promise<number | undefined> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isSocket() === true ? found.ino : undefined;
}

function isRefused(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(false);
    });
    probe.once('error', (error) => resolve(getErrorCode(error) === 'ECONNREFUSED'));
  });
}

function failed(reason: string): { readonly ok: false; readonly error: { readonly reason: string } } {
  return { ok: false, error: { reason } };
}
