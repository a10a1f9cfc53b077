import type { ServerStatus } from '../../api/status.ts';
import { formatCount } from '../../core/counted.ts';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import { listServerStatuses } from '../../gateway/catalog/server-status.ts';
import { style, formatTable } from './output.ts';

/** The servers with their states: how many tools, and what is wrong or, if nothing is, what `toDetail` says. */
export function formatServersTable(
  servers: readonly ServerStatus[],
  toDetail: (name: string) => string = () => '',
): string {
  const rows = servers.map((status) => {
    const { name, tools, cause, listFaults = [] } = status;
    const causes = [...(cause === undefined ? [] : [cause]), ...listFaults.map((fault) => fault.cause)];
    const detail = causes.length > 0 ? causes.join('; ') : toDetail(name);
    return [name, formatState(status), tools === undefined ? '' : String(tools), detail];
  });
  return formatTable(['SERVER', 'STATE', 'TOOLS', 'DETAILS'], rows);
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

/** The state by the name that it has in JSON and REST, coloured by whether clients miss tools. */
function formatState({ state, listFaults = [] }: ServerStatus): string {
  if (state === 'up') return listFaults.length === 0 ? style.green(state) : style.red(state);
  if (state === 'starting' || state === 'restarting') return style.yellow(state);
  return state === 'stopped' ? state : style.red(state);
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
