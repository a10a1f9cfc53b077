import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { readBytesWithinNow } from './bounded-file.ts';
import { formatFileError } from './file-error.ts';
import { createPrivateFile, ensureFolder, removeUnlessChanged, writeUnlessChanged } from './files.ts';
import { pause } from './pause.ts';
import { isAlive } from './stop-signals.ts';

/** The process that holds a lock. */
export interface LockHolder {
  readonly pid: number;
  /** What else it wrote into the file, as JSON. */
  readonly details: unknown;
}

export interface ProcessLock {
  /** Replaces what other processes read. False if the file is no longer this process's, or could not be written. */
  update(details: unknown): Promise<boolean>;
  /** Whether the file is still there and this process's. */
  isHeld(): boolean;
  /** Removes the file, unless it is no longer this process's. */
  release(): void;
}

export type Acquired =
  | { readonly kind: 'acquired'; readonly lock: ProcessLock }
  | { readonly kind: 'held'; readonly by: LockHolder }
  | { readonly kind: 'failed'; readonly reason: string };

interface LockFile extends LockHolder {
  /** When the process started, as the system says it: tells it apart from a later one with the same id. */
  readonly started: string;
  /** Tells two locks of one process apart. */
  readonly nonce: string;
}

/** Maximum time in ms for which a process tries while others take over the same lock or release it. */
const PATIENCE_MS = 10_000;
const POLL_MS = 20;
const MAX_BYTES = 65_536;

/** Creates a file that only one process at a time can hold. The file of a process that has ended is taken over. */
export async function acquireLock(path: string, details: unknown): Promise<Acquired> {
  const own: LockFile = {
    pid: process.pid,
    started: readProcessStart(process.pid),
    nonce: randomUUID(),
    details,
  };
  const folder = await ensureFolder(dirname(path));
  if (!folder.ok) return { kind: 'failed', reason: folder.error.reason };
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const created = await createPrivateFile(path, toText(own));
    if (!created.ok) return { kind: 'failed', reason: created.error.reason };
    if (created.value === 'created') return { kind: 'acquired', lock: new HeldLock(path, own) };
    const found = inspectLock(path);
    if (found.kind === 'held' || found.kind === 'failed') return found;
    if (found.kind === 'absent') continue;
    const fault = await removeStale(path);
    if (fault !== undefined) return { kind: 'failed', reason: fault };
  }
  return { kind: 'failed', reason: 'other processes kept taking it over' };
}

/** The running process that holds a lock. Undefined if there is none. */
export function readLock(path: string): LockHolder | undefined {
  const found = inspectLock(path);
  return found.kind === 'held' ? found.by : undefined;
}

class HeldLock implements ProcessLock {
  readonly #path: string;
  #own: LockFile;

  constructor(path: string, own: LockFile) {
    this.#path = path;
    this.#own = own;
  }

  async update(details: unknown): Promise<boolean> {
    const next = { ...this.#own, details };
    const file = { text: toText(next), mode: 0o600 };
    const written = await writeUnlessChanged(this.#path, toText(this.#own), file);
    if (!written.ok || written.value !== 'written') return false;
    this.#own = next;
    return true;
  }

  isHeld(): boolean {
    const text = readText(this.#path);
    return text !== undefined && parseLock(text)?.nonce === this.#own.nonce;
  }

  release(): void {
    removeUnlessChanged(this.#path, toText(this.#own));
  }
}

/**
 * Removes a file that no running process holds. Returns a phrase for the reason if it cannot.
 *
 * Since the file was read, a faster process may have replaced it by its own. Therefore only the holder of a second lock
 * removes such a file, after reading it once more. The second lock is taken over in the same way.
 */
async function removeStale(path: string): Promise<string | undefined> {
  const takeover = await acquireLock(`${path}.takeover`, {});
  if (takeover.kind === 'failed') return takeover.reason;
  if (takeover.kind === 'held') {
    await pause(POLL_MS);
    return undefined;
  }
  try {
    if (inspectLock(path).kind === 'stale') rmSync(path);
    return undefined;
  } catch (error) {
    return formatFileError(error);
  } finally {
    takeover.lock.release();
  }
}

type FoundLock = Exclude<Acquired, { kind: 'acquired' }> | { readonly kind: 'absent' | 'stale' };

function inspectLock(path: string): FoundLock {
  const read = readBytesWithinNow(path, MAX_BYTES);
  if (!read.ok)
    return read.error.code === 'ENOENT' ? { kind: 'absent' } : { kind: 'failed', reason: read.error.reason };
  const by = parseLock(read.value.bytes.toString());
  return by !== undefined && isRunning(by) ? { kind: 'held', by } : { kind: 'stale' };
}

function toText(lock: LockFile): string {
  return `${JSON.stringify(lock)}\n`;
}

function readText(path: string): string | undefined {
  const read = readBytesWithinNow(path, MAX_BYTES);
  return read.ok ? read.value.bytes.toString() : undefined;
}

function parseLock(text: string): LockFile | undefined {
  try {
    const { pid, started, nonce, details } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const isWhole = Number.isInteger(pid) && Number(pid) > 0 && typeof started === 'string';
    return isWhole && typeof nonce === 'string' ? { pid: Number(pid), started, nonce, details } : undefined;
  } catch {
    return undefined;
  }
}

function isRunning({ pid, started }: LockFile): boolean {
  if (!isAlive(pid)) return false;
  const now = readProcessStart(pid);
  return started === '' || now === '' || now === started;
}

/** When a process started; empty if the system does not say. */
function readProcessStart(pid: number): string {
  try {
    if (process.platform === 'linux') {
      const status = readFileSync(`/proc/${pid}/stat`, 'latin1');
      // In `PID (name) STATE …`, the name may contain anything; the start is field 22, in ticks since the machine started.
      const started = status.slice(status.lastIndexOf(')') + 2).split(' ')[19] ?? '';
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()} ${started}`;
    }
    if (process.platform === 'win32') return '';
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}
