import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, readlink, type FileHandle } from 'node:fs/promises';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * An open folder on Linux. What is in it is reached by its handle, so that no folder on the way can be exchanged for a
 * link to another place meanwhile. Names are those of single entries.
 */
export class OpenFolder implements AsyncDisposable {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Links in this path are followed, so it must be one that only Assay chooses. Undefined if it is no folder. */
  static async at(path: string): Promise<OpenFolder | undefined> {
    return OpenFolder.#open(path, O_RDONLY | O_DIRECTORY);
  }

  static async #open(path: string, flags: number): Promise<OpenFolder | undefined> {
    const handle = await open(path, flags).catch(() => undefined);
    return handle && new OpenFolder(handle);
  }

  /** Undefined if it is no folder, such as a link to one. */
  async folder(name: string): Promise<OpenFolder | undefined> {
    return OpenFolder.#open(this.#in(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  }

  /** Opens a file to read. Links are not followed, and a FIFO does not wait for its other side. */
  async file(name: string): Promise<FileHandle | undefined> {
    return open(this.#in(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  }

  async stats(name: string): Promise<Stats | undefined> {
    return lstat(this.#in(name)).catch(() => undefined);
  }

  async linkTarget(name: string): Promise<string> {
    return readlink(this.#in(name)).catch(() => '');
  }

  /** Sorted. Empty if it cannot be read. */
  async names(): Promise<readonly string[]> {
    return (await readdir(this.#in('.')).catch(() => [])).toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  #in(name: string): string {
    return `/proc/self/fd/${this.#handle.fd}/${name}`;
  }
}

/** Does some work with the folder that holds a path below a root. Undefined if there is no such folder. */
export async function withParent<T>(
  root: string,
  path: string,
  work: (folder: OpenFolder, name: string) => Promise<T>,
): Promise<T | undefined> {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  const last = names.pop();
  if (last === undefined || last === '..' || names.includes('..')) return undefined;
  let folder = await OpenFolder.at(root);
  try {
    for (const name of names) {
      const inner = await folder?.folder(name);
      await folder?.[Symbol.asyncDispose]();
      folder = inner;
    }
    return folder && (await work(folder, last));
  } finally {
    await folder?.[Symbol.asyncDispose]();
  }
}
