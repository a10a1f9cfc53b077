import type { ServerStatus } from '../../api/status.ts';
import { formatCount } from '../../core/counted.ts';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import { listServerStatuses } from '../../gateway/catalog/server-status.ts';
import { style, formatTable } from './output.ts';

/** The servers with their states, for a person: how many tools, their first names, or why there are none. */
export function formatServersTable(catalog: Catalog): string {
  const entries = catalog.all.listing('tools').entries;
  const rows = listServerStatuses(catalog).map((status) => {
    const { name, cause, listFaults = [] } = status;
    const tools = entries.filter(({ server }) => server.spec.name === name).map(({ key }) => key);
    const faults = listFaults.map((fault) => fault.cause);
    const details = faults.length > 0 ? faults.join('; ') : (cause ?? firstNames(tools));
    return [name, formatState(status), tools.length === 0 ? '' : String(tools.length), details];
  });
  const starting = listStartingServers(catalog).length;
  const table = formatTable(['SERVER', 'STATE', 'TOOLS', 'DETAILS'], rows);
  return starting === 0
    ? table
    : `${table}\n${style.yellow(`${formatCount(starting, 'server')} still starting.`)} The table follows again when all have settled.`;
}

/** Servers whose first start has not ended. */
export function listStartingServers(catalog: Catalog): readonly ServerStatus[] {
  return listServerStatuses(catalog).filter(({ state }) => state === 'starting');
}

/** The state by the name that it has in JSON and REST, coloured by whether clients miss tools. */
export function formatState({ state, listFaults = [] }: ServerStatus): string {
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
