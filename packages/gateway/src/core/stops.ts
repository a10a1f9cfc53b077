import { quote } from '@assay-mcp/kit/printable';

/** What an operator has stopped: the calls of one tool, all requests to one server, or all requests to all servers. */
export type StopTarget =
  | { readonly kind: 'all_calls' }
  | { readonly kind: 'server'; readonly server: string }
  /** `tool`: its name on its server. */
  | { readonly kind: 'tool'; readonly server: string; readonly tool: string };

/**
 * By name, not by identity: a server that is swapped or configured elsewhere under the same name stays stopped.
 */
export interface Stop {
  readonly target: StopTarget;
  /** The subject that stopped it. */
  readonly by: string;
  readonly atMs: number;
  /** The operator's explanation, which callers read. */
  readonly reason?: string | undefined;
}

export const STOP_KINDS: readonly [StopTarget['kind'], ...StopTarget['kind'][]] = [
  'all_calls',
  'server',
  'tool',
];

export const MAX_STOPS = 1_000;
export const MAX_STOP_REASON_LENGTH = 300;

export function countStops(stops: readonly Stop[]): Readonly<Record<StopTarget['kind'], number>> {
  const counts = { all_calls: 0, server: 0, tool: 0 };
  for (const { target } of stops) counts[target.kind] += 1;
  return counts;
}

/** "all calls", or the name of the server or tool. */
export function formatStopTarget(target: StopTarget): string {
  if (target.kind === 'all_calls') return 'all calls';
  return target.kind === 'server' ? target.server : `${target.server}.${target.tool}`;
}

/** Who stopped what, when and why, as a sentence for callers and operators. */
export function formatStop({ target, by, atMs, reason }: Stop): string {
  const what =
    target.kind === 'all_calls' ? 'all calls' : `the ${target.kind} ${quote(formatStopTarget(target))}`;
  const because = reason === undefined ? '' : `: ${quote(reason)}`;
  return `${quote(by)} stopped ${what} at ${new Date(atMs).toISOString()}${because}.`;
}

/**
 * Finds what stops a request to a server. `tool`: its name there; undefined if the request calls no tool. The widest
 * stop is returned.
 */
export type FindStop = (server: string, tool?: string) => Stop | undefined;

export function compileStops(stops: readonly Stop[]): FindStop {
  if (stops.length === 0) return () => undefined;
  const all = stops.find(({ target }) => target.kind === 'all_calls');
  if (all !== undefined) return () => all;
  const servers = new Map<string, Stop>();
  const tools = new Map<string, Map<string, Stop>>();
  for (const stop of stops) {
    const { target } = stop;
    if (target.kind === 'server') servers.set(target.server, stop);
    if (target.kind !== 'tool') continue;
    const ofServer = tools.get(target.server) ?? new Map<string, Stop>();
    tools.set(target.server, ofServer.set(target.tool, stop));
  }
  return (server, tool) =>
    servers.get(server) ?? (tool === undefined ? undefined : tools.get(server)?.get(tool));
}

/** Why a text cannot be the reason of a stop, as the end of a sentence. */
export function findStopReasonFault(reason: string): string | undefined {
  if (reason.trim() === '') return 'it must not be empty';
  if (reason.length > MAX_STOP_REASON_LENGTH)
    return `it may have at most ${MAX_STOP_REASON_LENGTH} characters`;
  return /\p{C}/u.test(reason) ? 'it must not contain control or invisible characters' : undefined;
}
