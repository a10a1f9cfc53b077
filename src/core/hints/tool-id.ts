import { shortHash } from '../digest.ts';

const DIGITS = 20;

/**
 * The id of a tool, by what its server is and calls it: the same after a refresh, a restart and a new registration of the
 * same server. What a swapped server has under the same name is another tool.
 */
export function toolIdOf(server: string, identity: string, name: string): string {
  return `tool_${shortHash(JSON.stringify([server, identity, name]), DIGITS)}`;
}

/** The id under which is kept what an operator says of a server. A swapped one has another. */
export function serverIdOf(server: string, identity: string): string {
  return `server_${shortHash(JSON.stringify([server, identity]), DIGITS)}`;
}

/** The id of a gateway, as the REST API calls a server: that of its name. */
export function gatewayIdOf(name: string): string {
  return `gateway_${shortHash(name, DIGITS)}`;
}

/** The id of the record of a REST tool that an operator made. */
export function restToolIdOf(name: string): string {
  return `rest_${shortHash(name, DIGITS)}`;
}

/** The id of the record of a module of functions that an operator added. */
export function functionModuleIdOf(path: string): string {
  return `module_${shortHash(path, DIGITS)}`;
}
