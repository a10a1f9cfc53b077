import { formatCount } from '@assay-mcp/kit/counted';
import { formatNamespacedName } from './tool-ref.ts';

/** All tools of a server as a member of a toolset: those listed now, and those that appear later. */
export interface WholeServer {
  /** `server.*` */
  readonly namespacedName: string;
  /** A server as a whole is not pinned to definitions. */
  readonly held?: undefined;
  /** The server's own names of tools that were removed from the toolset. */
  readonly except: readonly string[];
  /** Names of the tools that an operator has accepted; others are new. Undefined until the server lists its tools. */
  readonly known?: readonly string[] | undefined;
}

/** Maximum number of tools of one server that are recorded as accepted or removed. */
export const WHOLE_SERVER_LIMIT = 10_000;

const ALL = '.*';

export function toWholeServer(server: string, known?: readonly string[]): WholeServer {
  return { namespacedName: formatNamespacedName(server, '*'), except: [], ...(known && { known }) };
}

/** A member of a toolset. */
type Named = Pick<WholeServer, 'namespacedName'>;

export function isWhole(tool: Named): tool is WholeServer {
  return 'except' in tool;
}

/** The server's name if a ref stands for all of its tools. */
export function parseWholeServer(namespacedName: string): string | undefined {
  const server = namespacedName.slice(0, -ALL.length);
  return namespacedName.endsWith(ALL) && server !== '' ? server : undefined;
}

export function getWholeServerName({ namespacedName }: WholeServer): string {
  return namespacedName.slice(0, -ALL.length);
}

/** Whether a member of a toolset is a whole server that contains this tool. */
export function includes(member: Named, namespacedName: string): boolean {
  if (!isWhole(member)) return false;
  const tool = toolIn(member, namespacedName);
  return tool !== undefined && !member.except.includes(tool);
}

/** Whether an operator has accepted a tool. Everything counts as accepted until the server lists its tools. */
export function isKnown(whole: WholeServer, namespacedName: string): boolean {
  const tool = toolIn(whole, namespacedName);
  return tool !== undefined && (whole.known ?? [tool]).includes(tool);
}

/** Removes a tool from a whole server. */
export function excludeTool(whole: WholeServer, namespacedName: string): WholeServer {
  const tool = toolIn(whole, namespacedName);
  if (tool === undefined || whole.except.includes(tool)) return whole;
  return { ...whole, except: [...whole.except, tool] };
}

/** Puts a removed tool back. */
export function restoreTool(whole: WholeServer, namespacedName: string): WholeServer {
  const tool = toolIn(whole, namespacedName);
  if (tool === undefined || !whole.except.includes(tool)) return whole;
  return { ...whole, except: whole.except.filter((name) => name !== tool) };
}

/** Records tools as no longer new. */
export function addKnownTools(whole: WholeServer, tools: readonly string[]): WholeServer {
  const known = new Set([...(whole.known ?? []), ...tools]);
  return known.size === whole.known?.length ? whole : { ...whole, known: [...known] };
}

/** "3 tools and all tools of github", for people. */
export function formatMembers(tools: readonly (Named & { readonly except?: readonly string[] })[]): string {
  const servers = tools.flatMap(({ namespacedName, except = [] }) => {
    const server = parseWholeServer(namespacedName);
    if (server === undefined) return [];
    return [except.length === 0 ? server : `${server} except ${except.length}`];
  });
  const singles = tools.length - servers.length;
  const parts = servers.length > 0 && singles === 0 ? [] : [formatCount(singles, 'tool')];
  return [...parts, ...(servers.length > 0 ? [`all tools of ${servers.join(', ')}`] : [])].join(' and ');
}

/** The server's own name of a tool with this namespaced name. */
function toolIn(whole: WholeServer, namespacedName: string): string | undefined {
  const start = whole.namespacedName.slice(0, -1);
  const isWithin = namespacedName.startsWith(start) && namespacedName !== whole.namespacedName;
  return isWithin ? namespacedName.slice(start.length) : undefined;
}
