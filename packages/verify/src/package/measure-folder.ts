import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Whether a folder is within these limits. Links are not followed; what disappears meanwhile does not count. */
export async function measureFolder(
  folder: string,
  limits: { readonly bytes: number; readonly entries: number },
): Promise<{ readonly isWithin: boolean }> {
  let { bytes, entries } = limits;
  const waiting = [folder];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const opened = await opendir(at).catch(() => undefined);
    if (opened === undefined) continue;
    for await (const entry of opened) {
      entries -= 1;
      const path = join(at, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else bytes -= (await lstat(path).catch(() => undefined))?.size ?? 0;
      if (entries < 0 || bytes < 0) return { isWithin: false };
    }
  }
  return { isWithin: true };
}
