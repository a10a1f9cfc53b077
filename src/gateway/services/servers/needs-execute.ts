import type { GatewayEntry } from '../../ports/gateways.ts';

/** Members that start or confine a process. */
const PROCESS_MEMBERS = ['command', 'args', 'env', 'cwd', 'sandbox', 'roots', 'network', 'sandboxAccepts'];

/** Values of `type` whose servers Assay starts, and that read files of this machine. */
const PROCESS_TYPES: ReadonlySet<unknown> = new Set(['stdio', 'codebase']);

/**
 * Whether adding this entry, or changing these members of one, takes the `execute` scope: it starts a process or reads a
 * file of this machine.
 */
export function needsExecute(entry: GatewayEntry): boolean {
  const { type, openapi } = entry;
  const isPath = typeof openapi === 'string' && !/^https?:\/\//i.test(openapi);
  const isGiven = PROCESS_MEMBERS.some((member) => (entry[member] ?? undefined) !== undefined);
  return isPath || isGiven || PROCESS_TYPES.has(type);
}
