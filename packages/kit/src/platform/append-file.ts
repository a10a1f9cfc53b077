import { open } from 'node:fs/promises';
import { getErrorCode } from './file-error.ts';

/**
 * A file of lines to which this process appends. It is opened by its path for each write, so that a file that was
 * renamed or truncated, as by logrotate, is followed. A new file is readable for this user only.
 */
export class AppendFile {
  readonly #path: string;
  /** What the last write left over, if the disk was full in the middle of it. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns why not all could be written, an error code; the rest is then written with the next lines. */
  async append(lines: string): Promise<string | undefined> {
    const bytes = Buffer.concat([this.#rest, Buffer.from(lines)]);
    this.#rest = Buffer.alloc(0);
    if (bytes.length === 0) return undefined;
    let written = 0;
    try {
      const file = await open(this.#path, 'a', 0o600);
      try {
        while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten;
      } finally {
        await file.close();
      }
      return undefined;
    } catch (error) {
      this.#rest = bytes.subarray(written);
      return getErrorCode(error);
    }
  }
}
