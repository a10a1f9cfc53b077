import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Maximum number of entries to look at. */
const MAX_ENTRIES = 50_000;

/** The named pipes in these folders, upper folders first. Links are not followed. */
export async function findNamedPipes(
  folders: readonly string[],
  maxEntries: number = MAX_ENTRIES,
): Promise<readonly string[]> {
  const pipes: string[] = [];
  const waiting = [...folders];
  let left = maxEntries;
  for (let folder = waiting.shift(); folder !== undefined && left > 0; folder = waiting.shift())
    for await (const entry of entriesOf(folder)) {
      left -= 1;
      if (left < 0) break;
      const path = join(folder, entry.name);
      if (entry.isFIFO()) pipes.push(path);
      else if (entry.isDirectory()) waiting.push(path);
    }
  return pipes;
}

/** None if it is a file, is gone or cannot be read, as then the server cannot see it either. */
async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder);
  } catch {
    // See above.
  }
}
