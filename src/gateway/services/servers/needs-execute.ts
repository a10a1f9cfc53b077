import type { ConfigEntry } from '../../ports/config-entries.ts';

/** Members that start or confine a process. */
const PROCESS_MEMBERS = ['command', 'args', 'env', 'cwd', 'sandbox', 'roots', 'network', 'sandboxAccepts'];

/** Values of `type` for which Assay starts no process. Every other kind requires the scope. */
const URL_TYPES: readonly unknown[] = ['http', 'streamable-http', 'streamableHttp', 'sse', 'openapi'];

/**
 * Whether adding this entry, or changing these members of one, requires the `execute` scope: it starts a process or
 * reads a file of this machine.
 */
export function needsExecute(entry: ConfigEntry): boolean {
  const { type, openapi } = entry;
  const isPath = typeof openapi === 'string' && !/^https?:\/\//i.test(openapi);
  const isGiven = (member: string): boolean => (entry[member] ?? undefined) !== undefined;
  return isPath || PROCESS_MEMBERS.some(isGiven) || (isGiven('type') && !URL_TYPES.includes(type));
}
