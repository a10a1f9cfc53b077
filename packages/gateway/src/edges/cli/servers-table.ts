import type { ServerStatus } from '../../api/status.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import { listServerStatuses } from '../../gateway/catalog/server-status.ts';
import { getServerLevel, type ServerLevel } from '@assay-mcp/kit/server-states';
import { style, formatTable } from '@assay-mcp/kit/platform/terminal/print';

/** The servers with their states: how many tools, and what is wrong or, if nothing is, what `toDetail` says. */
export function formatServersTable(
  servers: readonly ServerStatus[],
  toDetail: (name: string) => string = () => '',
): string {
  const rows = servers.map((status) => {
    const { name, tools, cause, listFaults = [] } = status;
    const causes = [...(cause === undefined ? [] : [cause]), ...listFaults.map((fault) => fault.cause)];
    const detail = causes.length > 0 ? causes.join('; ') : toDetail(name) || formatIdleDetail(status);
    return [name, formatState(status), tools === undefined ? '' : String(tools), detail];
  });
  return formatTable(['SERVER', 'STATE', 'TOOLS', 'DETAILS'], rows);
}

/** What starts an idle server, and what its stop may have lost. */
function formatIdleDetail({ state, keptState }: ServerStatus): string {
  if (state !== 'idle') return '';
  return keptState === undefined
    ? 'starts at its next call'
    : 'starts at its next call, without what it kept in memory';
}

/** The table of `serve`, with the first tools of each server. */
export function formatCatalogTable(catalog: Catalog): string {
  const { entries } = catalog.all.listing('tools');
  const table = formatServersTable(listServerStatuses(catalog), (name) =>
    firstNames(entries.filter(({ server }) => server.spec.name === name).map(({ key }) => key)),
  );
  const starting = listStartingServers(catalog).length;
  return starting === 0
    ? table
    : `${table}\n${style.yellow(`${formatCount(starting, 'server')} still starting.`)} The table follows again when all have settled.`;
}

/** Servers whose first start has not ended. */
export function listStartingServers(catalog: Catalog): readonly ServerStatus[] {
  return listServerStatuses(catalog).filter(({ state }) => state === 'starting');
}

const LEVEL_STYLES: Readonly<Record<ServerLevel, (text: string) => string>> = {
  ready: style.green,
  pending: style.yellow,
  down: style.red,
  off: (text) => text,
};

/** The state by the name that it has in JSON and REST, coloured by whether clients miss tools. */
function formatState({ state, listFaults = [] }: ServerStatus): string {
  return listFaults.length > 0 ? style.red(state) : LEVEL_STYLES[getServerLevel(state)](state);
}

/** Maximum length of the tool names shown for one server, so that it takes one line. */
const MAX_NAMES_LENGTH = 32;

function firstNames(names: readonly string[]): string {
  let text = names[0] ?? '';
  for (const name of names.slice(1)) {
    if (text.length + name.length > MAX_NAMES_LENGTH) return `${text}, …`;
    text += `, ${name}`;
  }
  return text;
}
