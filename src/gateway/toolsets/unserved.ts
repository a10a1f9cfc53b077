import { isWithheld } from '../definition-facts.ts';
import type { Server } from '../server.ts';
import type { ToolIndex } from './tool-index.ts';

/** Why a tool of a toolset is not served. */
export type UnservedReason =
  | 'disabled'
  | 'withheld'
  | 'definition_changed'
  | 'name_collision'
  | 'server_down'
  | 'server_unknown'
  | 'tool_gone';

export interface Unserved {
  /** Its namespaced name. */
  readonly tool: string;
  readonly reason: UnservedReason;
}

export const UNSERVED_TEXTS: Readonly<Record<UnservedReason, string>> = {
  disabled: 'Disabled by an operator',
  withheld: 'Withheld, as clients cannot read the definition',
  definition_changed: 'Changed since they were put in',
  name_collision: 'Not shown, as several servers have tools of these names',
  server_down: 'Absent, as the server is down',
  server_unknown: 'Absent, as there is no such server',
  tool_gone: 'Absent, as the server does not have them now',
};

/** Why no tool of this name is listed, or why the listed one is not served; undefined: it is served. */
export function unservedReason(
  namespacedName: string,
  { index, servers }: { readonly index: ToolIndex; readonly servers: readonly Server[] },
): UnservedReason | undefined {
  const named = index.named(namespacedName);
  if (named.length > 0)
    return named.every(({ definition }) => isWithheld(definition)) ? 'withheld' : undefined;
  if (index.isDisabled(namespacedName)) return 'disabled';
  const server = serverOf(namespacedName, servers);
  if (server === undefined) return 'server_unknown';
  return server.life.state === 'up' ? 'tool_gone' : 'server_down';
}

/** The server that a tool belongs to which none has at the moment, by its name. */
export function serverOf(namespacedName: string, servers: readonly Server[]): Server | undefined {
  return servers
    .filter(({ spec }) => namespacedName.startsWith(`${spec.name}.`))
    .toSorted((one, other) => other.spec.name.length - one.spec.name.length)[0];
}
