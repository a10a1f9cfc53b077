import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { EraMemory, Log } from '../../gateway/ports.ts';
import { ensureFolder, readText, writeAtomically } from '../../platform/files.ts';
import type { Era } from '../../protocol/eras.ts';

/**
 * Remembers in a small file which era each server speaks, so that no start probes it twice. The key holds what the
 * server is (its command or URL), so that a swapped one is asked anew. Losing the file costs one probe a server.
 */
export async function openEraFile(path: string, log: Log): Promise<EraMemory> {
  const eras = new Map<string, Era>(await readEras(path));
  let writing = Promise.resolve();
  return {
    recall: (spec) => eras.get(keyOf(spec)),
    remember(spec, era) {
      const key = keyOf(spec);
      if (eras.get(key) === era) return;
      eras.set(key, era);
      const text = `${JSON.stringify(Object.fromEntries(eras), undefined, 1)}\n`;
      writing = writing.then(async () => {
        const folder = await ensureFolder(dirname(path));
        const written = folder.ok ? await writeAtomically(path, text, 0o600) : folder;
        if (!written.ok)
          log.warn('what was learnt of a server could not be saved', { path, cause: written.error.reason });
      });
    },
  };
}

async function readEras(path: string): Promise<readonly [string, Era][]> {
  const text = await readText(path);
  if (!text.ok) return [];
  try {
    const parsed = JSON.parse(text.value) as Readonly<Record<string, unknown>>;
    return Object.entries(parsed).filter(
      (entry): entry is [string, Era] => entry[1] === 'legacy' || entry[1] === 'modern',
    );
  } catch {
    return []; // a damaged file is written anew with the next thing learnt
  }
}

/** Arguments and headers may hold secrets, so the file holds a hash. */
function keyOf({ name, transport }: ServerSpec): string {
  const what = transport.kind === 'stdio' ? [transport.command, ...transport.args] : [transport.url.href];
  const hash = createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16);
  return `${name} ${hash}`;
}
