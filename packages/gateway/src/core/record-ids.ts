import { computeShortHash } from '@assay-mcp/kit/digest';
import type { StopTarget } from './stops.ts';

const DIGITS = 20;

/**
 * The id of a tool, derived from its server's identity and its name. It survives a refresh, a restart and a new
 * registration of the same server. If the server is swapped, a tool of the same name gets another id.
 */
export function computeToolId(server: string, identity: string, name: string): string {
  return `tool_${computeShortHash(JSON.stringify([server, identity, name]), DIGITS)}`;
}

/** The id under which an operator's settings for a server are stored. A swapped server has another. */
export function computeServerId(server: string, identity: string): string {
  return `server_${computeShortHash(JSON.stringify([server, identity]), DIGITS)}`;
}

/** The id of a gateway (the REST API's term for a server), derived from its name. */
export function computeGatewayId(name: string): string {
  return `gateway_${computeShortHash(name, DIGITS)}`;
}

/** The record id of a REST tool created by an operator. */
export function computeRestToolId(name: string): string {
  return `rest_${computeShortHash(name, DIGITS)}`;
}

/** The record id of a function module added by an operator. */
export function computeModuleId(path: string): string {
  return `module_${computeShortHash(path, DIGITS)}`;
}

/** The id of the stop of a target; there is one per target. */
export function computeStopId(target: StopTarget): string {
  if (target.kind === 'all_calls') return 'all_calls';
  const names = target.kind === 'server' ? [target.server] : [target.server, target.tool];
  return `stop_${computeShortHash(JSON.stringify(names), DIGITS)}`;
}

const REF_DIGITS = 32;

/** The id of one definition of one server's tool. Any other definition or server gives another id. */
export function computeRefId(server: string, digest: string): string {
  return computeShortHash(`${server}\n${digest}`, REF_DIGITS);
}

/** Whether the id matches the definition for any server name with which the namespaced name may begin. */
export function isIdOfRef(refId: string, namespacedName: string, digest: string): boolean {
  const starts = [...namespacedName.matchAll(/\./g)].map(({ index }) => namespacedName.slice(0, index));
  return starts.some((server) => computeRefId(server, digest) === refId);
}
