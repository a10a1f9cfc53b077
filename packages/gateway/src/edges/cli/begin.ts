import { EXIT } from '../../core/errors.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import type { AppOptions } from '../../core/command-options.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { print, printError, formatProse } from '@assay-mcp/kit/platform/terminal/print';
import type { ClientConfigPorts } from './runtime.ts';

type Ports = Pick<ClientConfigPorts, 'hasConfig' | 'findClients' | 'programName'>;

/**
 * `assay` without arguments: says how to begin, as long as no config file exists. Returns undefined if one does: the help is
 * then printed.
 */
export async function begin(runtime: Ports, options: AppOptions): Promise<number | undefined> {
  if (await runtime.hasConfig(options)) return undefined;
  print('Assay has no config file yet, so it knows no servers.');
  for (const line of await offers(runtime, options)) print(line);
  const name = runtime.programName;
  print(`\n\`${name} setup\` does it step by step; \`${name} --help\` shows all commands.`);
  return EXIT.done;
}

/** Prints to stderr what to run if a command needed a config file and there is none. */
export async function offerToBegin(runtime: Ports, options: AppOptions): Promise<void> {
  if (await runtime.hasConfig(options)) return;
  for (const line of await offers(runtime, options)) printError(line);
}

async function offers(runtime: Ports, options: AppOptions): Promise<readonly string[]> {
  const found = (await runtime.findClients(options)).filter(({ servers }) => servers.length > 0);
  const rows = found.map(({ id, label, servers }) => ({
    what: `${toPrintable(label)} has ${formatCount(servers.length, 'server')}:`,
    command: `${runtime.programName} import ${id}`,
  }));
  const width = Math.max(0, ...rows.map(({ what }) => what.length));
  if (rows.length > 0) return ['', ...rows.map(({ what, command }) => `  ${what.padEnd(width)}  ${command}`)];
  const none = 'No client on this machine has servers. `assay import FILE` reads any file with "mcpServers".';
  return [formatProse(none)];
}
