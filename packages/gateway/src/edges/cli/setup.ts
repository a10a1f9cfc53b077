import { Command } from 'commander';
import { formatCount } from '@assay-mcp/kit/counted';
import type { FoundClient } from '../../core/client-configs.ts';
import type { AppOptions } from '../../core/command-options.ts';
import { EXIT } from '../../core/errors.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { type Done, withConfig } from './common-options.ts';
import { confirm, isInteractive } from './ask.ts';
import { chooseTools, readToolChoice } from './choose-tools.ts';
import { chooseTrust } from './choose-trust.ts';
import { connect } from './connect.ts';
import { importFrom, formatMoves } from './import.ts';
import { print, printError, formatProse, style } from '@assay-mcp/kit/platform/terminal/print';
import { printFailure, printRefusal } from './output.ts';
import type { ClientConfigPorts } from './runtime.ts';

/** `assay setup` */
export function setupCommand(runtime: ClientConfigPorts, done: Done): Command {
  return withConfig(
    new Command('setup')
      .description(
        'set up step by step: import servers from MCP clients on this machine, then connect the clients',
      )
      .option('--client <client...>', 'only these clients (default: all with servers)')
      .option('--yes', 'answer yes to every question, and take the proposed tools')
      .option(
        '--tools <what>',
        'what the clients list: search (three tools that find the others), all, choose, or choose=SERVER,…',
      )
      .option(
        '--trust <servers>',
        'servers whose hints you trust, so that Assay asks less: NAME,…, all or none',
      )
      .option('--no-move', 'keep the imported entries in the clients’ config files')
      .action(async (options: SetupOptions) => done(await setup(runtime, options))),
  );
}

interface SetupOptions extends AppOptions {
  /** Ids of the clients. Absent: all that have servers. */
  readonly client?: readonly string[];
  /** Answers all questions with yes. */
  readonly yes?: boolean;
  /** What the clients list: see `readToolChoice`. */
  readonly tools?: string;
  /** Servers whose hints are trusted, with commas, `all` or `none`. */
  readonly trust?: string;
  /** False with `--no-move`: the imported entries also stay in the client's file. */
  readonly move?: boolean;
}

/**
 * `assay setup`: for each client of this machine imports its servers, saves their tools as a toolset, writes Assay into
 * its file and says what it will see. One question accepts all steps; without it, each can be declined. One client's
 * failure does not stop the others.
 */
export async function setup(runtime: ClientConfigPorts, options: SetupOptions): Promise<number> {
  const chosen = await chosenClients(runtime, options);
  if (!chosen.ok) return printRefusal(chosen.error);
  if (options.yes !== true && !isInteractive()) return printRefusal(NO_TERMINAL);
  const choice = options.tools === undefined ? ok(undefined) : readToolChoice(options.tools);
  if (!choice.ok) return printRefusal(choice.error);
  const results: (number | undefined)[] = [];
  const isAccepted = options.yes === true || (await confirmAll(chosen.value, options));
  for (const client of chosen.value)
    results.push(await setUp(runtime, client, { ...options, yes: isAccepted }));
  const done = chosen.value.filter((_, index) => results[index] === EXIT.done);
  const { client: _client, tools: _tools, trust, move: _move, yes = false, ...given } = options;
  const listed = await chooseTools(runtime, done, { ...given, choice: choice.value, yes });
  if (!listed.ok) return printRefusal(listed.error);
  const trusted = await chooseTrust(runtime, { ...given, choice: trust, yes });
  if (!trusted.ok) return printFailure(trusted.error);
  if (results.includes(EXIT.done))
    print(`\n${formatProse(CLOSING.replaceAll('assay ', `${runtime.programName} `))}`);
  return results.find((exit) => exit !== undefined && exit !== EXIT.done) ?? EXIT.done;
}

const NO_TERMINAL: Refusal = {
  code: 'ARGUMENTS_INVALID',
  reason:
    'there is no terminal to ask questions on; use --yes to run every step and --client to name the clients',
};
const CLOSING =
  'To show fewer tools: `assay toolset show NAME`, then `assay toolset remove NAME TOOL…`. To go back: `assay connect CLIENT --undo`.';

async function chosenClients(
  runtime: ClientConfigPorts,
  { client: wanted, ...options }: SetupOptions,
): Promise<Result<readonly FoundClient[], Refusal>> {
  const known = runtime.clients.map(({ id }) => id);
  const unknown = wanted?.find((id) => !known.includes(id));
  if (unknown !== undefined) return err({ code: 'CLIENT_UNKNOWN', name: unknown, known });
  const found = (await runtime.findClients(options)).filter(({ servers }) => servers.length > 0);
  const chosen = wanted === undefined ? found : found.filter(({ id }) => wanted.includes(id));
  const looked = runtime.clients.filter(({ id }) => wanted?.includes(id) ?? true);
  return chosen.length > 0
    ? ok(chosen)
    : err({ code: 'NOTHING_FOUND', places: looked.map(({ label }) => label), projects: [] });
}

/** Asks once for all steps of all clients. If the user declines, each step is a question of its own. */
async function confirmAll(clients: readonly FoundClient[], { move = true }: SetupOptions): Promise<boolean> {
  const names = clients.map(({ label }) => toPrintable(label));
  for (const { label, servers } of clients)
    print(formatProse(`${style.bold(toPrintable(label))}: ${toPrintable(servers.join(', '))}`));
  const steps = move
    ? 'Assay imports these servers, adds itself to the config file of each client and removes the imported entries from it.'
    : 'Assay imports these servers and adds itself to the config file of each client.';
  print(`\n${formatProse(`${steps} \`assay connect CLIENT --undo\` restores a file.`)}`);
  const [only] = names;
  const what = names.length === 1 && only !== undefined ? only : `these ${names.length} clients`;
  return confirm(`Set up ${what}? (n: confirm each step)`, 'yes');
}

/** The exit code; undefined if the user declined a step. */
async function setUp(
  runtime: ClientConfigPorts,
  { id, label, servers, isConnected }: FoundClient,
  { yes = false, move = true, tools: _tools, trust: _trust, ...options }: SetupOptions,
): Promise<number | undefined> {
  const name = toPrintable(label);
  const asked = async (question: string): Promise<boolean> => yes || (await confirm(question, 'yes'));
  print(`\n${style.bold(name)}: ${toPrintable(servers.join(', '))}`);
  if (!(await asked(`Import ${formatCount(servers.length, 'server')} from ${name}?`))) return undefined;
  let except: readonly string[] = [];
  const onDown = (names: readonly string[]): void => void (except = names);
  const imported = await importFrom(runtime, id, { ...options, isStep: true, onDown });
  if (imported !== EXIT.done) return imported;
  if (isConnected) printError(`${name} is connected to Assay already.`);
  else if (!(await asked(`Write Assay into the config file of ${name}?`))) return undefined;
  const connected = await connect(runtime, id, { ...options, name: 'assay', isStep: true });
  if (connected !== EXIT.done || !move) return connected;
  // Otherwise the client starts these servers itself and shows their tools twice.
  if (!(await asked('Remove the imported servers from that file? Assay starts them now.'))) return EXIT.done;
  const moved = await runtime.moveServers({ client: id, project: undefined, except }, options);
  if (!moved.ok) return printRefusal(moved.error);
  for (const line of formatMoves(moved.value, { ...runtime, id })) print(formatProse(toPrintable(line)));
  return EXIT.done;
}
