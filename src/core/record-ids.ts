import { shortHash } from './digest.ts';

const DIGITS = 20;

/**
 * The id of a tool, derived from its server's identity and its name. It survives a refresh, a restart and a new
 * registration of the same server. If the server is swapped, a tool of the same name gets another id.
 */
export function toolIdOf(server: string, identity: string, name: string): string {
  return `tool_${shortHash(JSON.stringify([server, identity, name]), DIGITS)}`;
}

/** The id under which an operator's settings for a server are stored. A swapped server has another. */
export function serverIdOf(server: string, identity: string): string {
  return `server_${shortHash(JSON.stringify([server, identity]), DIGITS)}`;
}

/** The id of a gateway (the REST API's term for a server), derived from its name. */
export function gatewayIdOf(name: string): string {
  return `gateway_${shortHash(name, DIGITS)}`;
}

/** The record id of a REST tool created by an operator. */
export function restToolIdOf(name: string): string {
  return `rest_${shortHash(name, DIGITS)}`;
}

/** The record id of a function module added by an operator. */
export function functionModuleIdOf(path: string): string {
  return `module_${shortHash(path, DIGITS)}`;
}
