import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { resolveRealPath } from './files.ts';
import { isInside } from './is-inside.ts';

export interface LinkOut {
  readonly link: string;
  readonly target: string;
}

export interface LinkOutOptions {
  /** Absolute real paths of the folders that may be accessed. */
  readonly within: readonly string[];
  /** Maximum number of entries inspected; the rest is ignored. */
  readonly max: number;
}

/** Finds a symbolic link in or below these folders that leads outside the accessible paths. Skips `node_modules`. */
export async function findLinkOut(
  folders: readonly string[],
  { within, max }: LinkOutOptions,
): Promise<LinkOut | undefined> {
  const waiting = [...folders];
  let left = max;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = await opendir(folder).catch(() => undefined); // a file, or missing
    if (entries === undefined) continue;
    for await (const entry of entries) {
      if ((left -= 1) < 0) return undefined;
      const path = join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== 'node_modules') waiting.push(path);
      if (!entry.isSymbolicLink()) continue;
      const target = await resolveRealPath(path);
      if (!within.some((one) => isInside(target, one))) return { link: path, target };
    }
  }
  return undefined;
}
