import { realpath } from 'node:fs/promises';
import { ToldRoots } from './access/told-roots.ts';
import { readSettings } from './settings.ts';

// What Assay loads of this package: its commands, and what a gateway needs to start it in a sandbox.

export { TOLD_FILE } from './access/told-roots.ts';
export { runRequest } from './run-request.ts';

/** The folders that a terminal was told, unless they lead elsewhere since. `home`: the absolute folder of Assay's data. */
export async function readToldRoots(home: string): Promise<readonly string[]> {
  const told = await new ToldRoots(home).read();
  const real = await Promise.all(told.map((path) => realpath(path).catch(() => undefined)));
  return told.filter((path, index) => real[index] === path);
}

/** The hosts of its services, with their ports. A database behind a socket file cannot be reached from a sandbox. */
export function listServices(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const settings = readSettings(env);
  // The process itself reports settings that are invalid.
  const embeddings = settings.ok ? settings.value.embeddings : undefined;
  if (embeddings === undefined) return [];
  const { url, vectorsUrl } = embeddings;
  const service = formatHost(new URL(url), url.startsWith('https:') ? '443' : '80');
  if (vectorsUrl === undefined) return [service];
  const vectors = new URL(vectorsUrl);
  const host = vectors.searchParams.get('host') ?? vectors.hostname;
  const port = vectors.searchParams.get('port') ?? vectors.port;
  return [service, formatHost({ hostname: host || 'localhost', port }, '5432')];
}

function formatHost({ hostname, port }: Pick<URL, 'hostname' | 'port'>, otherwise: string): string {
  return `${hostname}:${port || otherwise}`;
}
