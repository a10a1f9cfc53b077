import { appendFile, open, rename, stat } from 'node:fs/promises';
import { pause } from './pause.ts';

/** Lines are written together after this many ms. */
const FLUSH_AFTER_MS = 200;
/** Lines beyond this, in characters, are dropped while the disk does not keep up. */
const MAX_PENDING = 1024 * 1024;
const POLL_INTERVAL_MS = 250;

/** A file of lines that only this user can read, and one predecessor, `.1`, of at most `maxBytes` each. */
export class RotatingFile {
  readonly #path: string;
  readonly #maxBytes: number;
  #pending = '';
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #size: number | undefined;

  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
  }

  /** `line` ends with a line feed. */
  write(line: string): void {
    if (this.#pending.length + line.length > MAX_PENDING) return;
    this.#pending += line;
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_AFTER_MS).unref();
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#append()).catch(() => undefined);
    return this.#writing;
  }

  async #append(): Promise<void> {
    const bytes = Buffer.from(this.#pending);
    if (bytes.length === 0) return;
    const { length: taken } = this.#pending;
    const size = this.#size ?? (await inodeAndSize(this.#path)).size;
    const isFull = size > 0 && size + bytes.length > this.#maxBytes;
    if (isFull) {
      await rename(this.#path, before(this.#path));
      this.#size = 0;
    }
    await appendFile(this.#path, bytes, { mode: 0o600 });
    this.#size = (isFull ? 0 : size) + bytes.length;
    // Lines that could not be written are retried with the next one.
    this.#pending = this.#pending.slice(taken);
  }
}

/** How far a file has been read. */
export interface ReadPosition {
  readonly ino: number;
  readonly position: number;
}

/** All lines of the file and its predecessor, and the position after them. Empty if there are none. */
export async function readRotating(
  path: string,
): Promise<{ readonly lines: readonly string[]; readonly position: ReadPosition }> {
  const { ino } = await inodeAndSize(path);
  const [earlier, now] = [await textFrom(before(path), 0), await textFrom(path, 0)];
  return { lines: linesOf(earlier + now), position: { ino, position: Buffer.byteLength(now) } };
}

interface FollowOptions {
  readonly from: ReadPosition;
  readonly onLine: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Calls back with each line added after a position, until the signal aborts. */
export async function followRotating(path: string, { from, onLine, signal }: FollowOptions): Promise<void> {
  let { ino, position } = from;
  const take = async (from: string): Promise<void> => {
    const text = await textFrom(from, position);
    position += Buffer.byteLength(text);
    for (const line of linesOf(text)) onLine(line);
  };
  while (!signal.aborted) {
    await pause(POLL_INTERVAL_MS, signal);
    const now = await inodeAndSize(path);
    if (now.ino !== ino) {
      // Lines added before the rotation.
      if ((await inodeAndSize(before(path))).ino === ino) await take(before(path));
      ({ ino } = now);
      position = 0;
    }
    if (now.size > position) await take(path);
  }
}

function before(path: string): string {
  return `${path}.1`;
}

async function inodeAndSize(path: string): Promise<{ readonly ino: number; readonly size: number }> {
  const { ino, size } = await stat(path).catch(() => ({ ino: 0, size: 0 }));
  return { ino, size };
}

/** The complete lines from a position on. */
async function textFrom(path: string, position: number): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return '';
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.max(size - position, 0));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, position);
    const end = bytes.subarray(0, bytesRead).lastIndexOf('\n') + 1;
    return bytes.toString('utf8', 0, end);
  } finally {
    await file.close();
  }
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}
