import { Command } from 'commander';
import type {
  DeletedToolset,
  NewTools,
  ToolCosts,
  Toolset,
  ToolsetReview,
  ToolsetWithAccepted,
  ToolsetWithAdded,
  ToolsetWithRemoved,
} from '../../api/toolset.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import { readDeclared } from '../../core/hints/declared.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { err } from '@assay-mcp/kit/result';
import { formatMembers, parseWholeServer } from '../../core/whole-server.ts';
import { UNSERVED_CAUSES } from '../../gateway/services/toolsets/unserved.ts';
import { withConfig, withHome, type Done, type JsonOptions } from './common-options.ts';
import { NOTE_HEAD, toNoteRow } from './notes.ts';
import {
  formatTable,
  print,
  printError,
  printJson,
  quoteText,
  style,
} from '@assay-mcp/kit/platform/terminal/print';
import { formatChanges } from './output.ts';
import type { Api } from './api.ts';
import { formatTokens } from './choose-tools.ts';
import type { Runtime } from './runtime.ts';
import { apiPath, listAll, sendAndPrint, withApi } from './with-api.ts';

/** `assay toolset` with its subcommands. */
export function toolsetCommand(runtime: Runtime, done: Done): Command {
  const toolset = new Command('toolset').description('create, change and equip toolsets');
  const groups = [createShowCommands, createEditCommands, createReviewCommands];
  for (const command of groups.flatMap((create) => create(runtime, done))) {
    const located = WITHOUT_CONFIG.has(command.name()) ? withHome(command) : withConfig(command);
    toolset.addCommand(located.option('--json', 'print JSON'));
  }
  return toolset;
}

const WITHOUT_CONFIG: ReadonlySet<string> = new Set([
  ...['remove', 'rename', 'describe', 'delete', 'equip', 'unequip'],
]);

const REF =
  'a namespaced name (server.tool), "server.*" for all tools of a server, or a refId, which pins the tool to its current definition';

function createShowCommands(runtime: Runtime, done: Done): readonly Command[] {
  return [
    new Command('list')
      .description('list all toolsets')
      .action(async (options: JsonOptions) => done(await listToolsets(runtime, options))),
    new Command('show')
      .argument('<name>')
      .description('show the tools and notes of a toolset, without starting servers')
      .action(async (name: string, options: JsonOptions) => done(await showToolset(runtime, name, options))),
    new Command('create')
      .argument('<name>', 'lowercase letters, digits and hyphens')
      .argument('[refs...]', REF)
      .description('create a toolset')
      .option('--description <text>', 'purpose of the toolset')
      .option('--equip', 'equip it immediately')
      .action(async (name: string, refs: readonly string[], options: CreateOptions) =>
        done(await createToolset(runtime, { name, refs, options })),
      ),
    new Command('add')
      .argument('<name>')
      .argument('<refs...>', REF)
      .description('add tools to a toolset')
      .action(async (name: string, refs: readonly string[], options: JsonOptions) =>
        done(await addTools(runtime, { name, refs, options })),
      ),
  ];
}

function createEditCommands(runtime: Runtime, done: Done): readonly Command[] {
  return [
    new Command('remove')
      .argument('<name>')
      .argument('<tools...>', 'namespaced names, or "server.*"')
      .description('remove tools from a toolset; their notes are kept')
      .action(async (name: string, refs: readonly string[], options: JsonOptions) =>
        done(await removeTools(runtime, { name, refs, options })),
      ),
    new Command('rename')
      .argument('<old>')
      .argument('<new>')
      .description('rename a toolset')
      .action(async (from: string, to: string, options: JsonOptions) =>
        done(await renameToolset(runtime, { from, to }, options)),
      ),
    new Command('describe')
      .argument('<name>')
      .argument('<text>', 'new description; an empty text removes it')
      .description('set the description of a toolset')
      .action(async (name: string, text: string, options: JsonOptions) =>
        done(await describeToolset(runtime, { name, text }, options)),
      ),
    new Command('delete')
      .argument('<name>')
      .description('delete a toolset and its notes')
      .option('--yes', 'delete without asking')
      .action(async (name: string, options: DeleteOptions) =>
        done(await deleteToolset(runtime, name, options)),
      ),
    new Command('equip')
      .argument('<name>')
      .description('show clients only the tools of this toolset')
      .action(async (name: string, options: JsonOptions) => done(await equipToolset(runtime, name, options))),
    new Command('unequip')
      .description('unequip the current toolset')
      .action(async (options: JsonOptions) => done(await equipToolset(runtime, undefined, options))),
  ];
}

function createReviewCommands(runtime: Runtime, done: Done): readonly Command[] {
  return [
    new Command('review')
      .argument('<name>')
      .description('show new tools of servers added as a whole, and changes in pinned tools')
      .action(async (name: string, options: JsonOptions) =>
        done(await reviewToolset(runtime, name, options)),
      ),
    new Command('accept')
      .argument('<name>')
      .argument('[refs...]', 'namespaced names or refIds (default: all new and changed tools)')
      .description('accept new tools, and pin changed tools to their current definitions')
      .action(async (name: string, refs: readonly string[], options: JsonOptions) =>
        done(await acceptTools(runtime, { name, refs, options })),
      ),
  ];
}

interface CreateOptions extends JsonOptions {
  readonly description?: string;
  readonly equip?: boolean;
}

interface DeleteOptions extends JsonOptions {
  readonly yes?: boolean;
}

/** Input of a command about tools of one toolset. */
interface ToolsetInput<O extends JsonOptions = JsonOptions> {
  readonly name: string;
  readonly refs: readonly string[];
  readonly options: O;
}

/** `assay toolset list` */
function listToolsets(runtime: Runtime, options: JsonOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const toolsets = await listAll<Toolset>(api, '/toolsets', { name: 'toolsets' });
    if (!toolsets.ok) return toolsets;
    const costs = toolsets.value.length === 0 ? undefined : await readCosts(api);
    if (options.json === true)
      printJson({ toolsets: toolsets.value.map((one) => ({ ...one, ...toCost(one, costs) })) });
    else
      print(
        formatTable(
          ['NAME', 'TOOLS', 'TOKENS', 'NOTES', 'EQUIPPED', 'DESCRIPTION'],
          toolsets.value.map((one) => toRow(one, costs)),
        ),
      );
    if (toolsets.value.length === 0)
      printError('There are no toolsets. Create one with `assay toolset create NAME TOOL…`.');
    return toolsets;
  });
}

/** Undefined if the config, and so the tools, cannot be read: toolsets are shown without. */
async function readCosts(api: Api): Promise<ToolCosts | undefined> {
  const costs = await api.send<ToolCosts>({ method: 'GET', path: '/catalog/costs' });
  return costs.ok ? costs.value : undefined;
}

function toCost({ name }: Toolset, costs: ToolCosts | undefined): { readonly tokens?: number } {
  const cost = costs?.toolsets[name];
  return cost === undefined ? {} : { tokens: cost.tokens };
}

function toRow(toolset: Toolset, costs: ToolCosts | undefined): readonly string[] {
  const { name, description = '', tools, toolNotes, isEquipped } = toolset;
  const tokens = toCost(toolset, costs).tokens?.toLocaleString('en-US') ?? '';
  const notes = toolNotes.flatMap((entry) => entry.notes);
  const heldNotes = notes.filter(({ isHeld }) => isHeld).length;
  const held = heldNotes === 0 ? '' : ` (${heldNotes} held)`;
  const servers = tools.filter(isServer).length;
  const singles = String(tools.length - servers);
  const count = servers === 0 ? singles : `${singles} + ${formatCount(servers, 'server')}`;
  return [name, count, tokens, `${notes.length}${held}`, isEquipped ? style.green('yes') : 'no', description];
}

function isServer({ namespacedName }: Toolset['tools'][number]): boolean {
  return parseWholeServer(namespacedName) !== undefined;
}

/** `assay toolset show`: the stored toolset, without starting servers. */
function showToolset(runtime: Runtime, name: string, options: JsonOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const toolset = await api.send<Toolset>({ method: 'GET', path: apiPath`/toolsets/${name}` });
    if (!toolset.ok) return toolset;
    // The toolset is shown even if the config cannot be read.
    const found = toolset.value.tools.some(isServer)
      ? await api.send<NewTools>({ method: 'GET', path: apiPath`/toolsets/${name}/new` })
      : undefined;
    const fresh = found?.ok === true ? found.value : undefined;
    const costs = await readCosts(api);
    if (options.json === true) printJson({ ...toolset.value, ...toCost(toolset.value, costs), ...fresh });
    else {
      print(formatPage(toolset.value, fresh?.new.map(({ namespacedName }) => namespacedName) ?? []));
      const cost = costs?.toolsets[name];
      if (cost !== undefined)
        print(`\n${formatCount(cost.tools, 'tool')} now, ${formatTokens(cost.tokens)} in each conversation.`);
    }
    return toolset;
  });
}

function formatPage(
  { name, description, tools, toolNotes, isEquipped }: Toolset,
  fresh: readonly string[],
): string {
  const about = description === undefined ? '' : `: ${description}`;
  const head = toPrintable(`${name}${isEquipped ? ' (equipped)' : ''}${about}`);
  const members = tools.flatMap((tool): readonly Member[] => [
    [tool.namespacedName, tool.refId ?? ''],
    ...(tool.except ?? []).map((one): Member => [`  without ${one}`, '']),
  ]);
  const notes = toolNotes.flatMap(({ toolRef, notes: ofTool }) =>
    ofTool.map(({ isHeld = false, ...note }) =>
      toNoteRow({ toolset: name, tool: toolRef.namespacedName, ...note, isHeld }).slice(1),
    ),
  );
  const parts = [head, formatMembersTable(members)];
  if (notes.length > 0) parts.push(formatTable(NOTE_HEAD.slice(1), notes));
  if (fresh.length > 0) parts.push(formatNew(name, fresh));
  return parts.join('\n\n');
}

type Member = readonly [name: string, refId: string];

/** Omits the column of definitions if no tool is pinned, as in most toolsets. */
function formatMembersTable(members: readonly Member[]): string {
  if (members.some(([, refId]) => refId !== '')) return formatTable(['TOOL', 'PINNED TO'], members);
  return formatTable(
    ['TOOL'],
    members.map(([name]) => [name]),
  );
}

function formatNew(name: string, fresh: readonly string[]): string {
  const lines = fresh.map((tool) => `  ${toPrintable(tool)}`).join('\n');
  return `New since you accepted the tools of their servers:\n${lines}\n\`assay toolset review ${name}\` shows them; \`assay toolset accept ${name}\` accepts them.`;
}

/** `assay toolset create` */
function createToolset(runtime: Runtime, input: ToolsetInput<CreateOptions>): Promise<number> {
  const { name, refs: tools, options } = input;
  const { description, equip = false } = options;
  const request = { method: 'POST', path: '/toolsets', body: { name, description, tools, equip } } as const;
  const say = ({ tools: members }: Toolset): void => {
    const what = `Saved the toolset ${quoteText(name)} with ${formatMembers(members)}.`;
    print(equip ? `${what} It is equipped.` : what);
  };
  return sendAndPrint(runtime, options, request, { say });
}

/** `assay toolset add` */
function addTools(runtime: Runtime, { name, refs: tools, options }: ToolsetInput): Promise<number> {
  const request = { method: 'POST', path: apiPath`/toolsets/${name}/add`, body: { tools } } as const;
  return sendAndPrint<ToolsetWithAdded>(runtime, options, request, {
    say: ({ added, tools: members }) => {
      const what = `Added ${formatMembers(added)} to the toolset ${quoteText(name)}`;
      print(`${what}, which has ${formatMembers(members)} now.`);
    },
    note: ({ released }) => {
      for (const tool of released)
        printError(
          `note: ${quoteText(tool)} is no longer pinned to a definition, because it was given without its refId.`,
        );
    },
  });
}

/** `assay toolset remove` */
function removeTools(runtime: Runtime, { name, refs: tools, options }: ToolsetInput): Promise<number> {
  const request = { method: 'POST', path: apiPath`/toolsets/${name}/remove`, body: { tools } } as const;
  return sendAndPrint<ToolsetWithRemoved>(runtime, options, request, {
    say: ({ removed, tools: members }) => {
      const what = `Removed ${formatMembers(removed)} from the toolset ${quoteText(name)}`;
      print(`${what}, which has ${formatMembers(members)} now.`);
    },
    note: ({ removed }) => {
      for (const { namespacedName } of removed.filter(({ isUnconfirmed }) => isUnconfirmed))
        printError(
          `note: ${quoteText(namespacedName)} was not among the tools of its server when those were accepted.`,
        );
      for (const { namespacedName, notes } of removed.filter((one) => one.notes > 0))
        printError(
          `note: ${formatCount(notes, 'note')} on ${quoteText(namespacedName)} are kept, and apply again once the tool is added.`,
        );
    },
  });
}

/** `assay toolset rename` */
function renameToolset(
  runtime: Runtime,
  { from, to }: { readonly from: string; readonly to: string },
  options: JsonOptions,
): Promise<number> {
  const request = { method: 'PUT', path: apiPath`/toolsets/${from}`, body: { name: to } } as const;
  const say = (): void => print(`The toolset ${quoteText(from)} is called ${quoteText(to)} now.`);
  return sendAndPrint(runtime, options, request, { say });
}

/** `assay toolset describe`: an empty text removes the description. */
function describeToolset(
  runtime: Runtime,
  { name, text: description }: { readonly name: string; readonly text: string },
  options: JsonOptions,
): Promise<number> {
  const request = { method: 'PUT', path: apiPath`/toolsets/${name}`, body: { description } } as const;
  const what = description === '' ? 'no longer has a description' : 'has this description now';
  const say = (): void => print(`The toolset ${quoteText(name)} ${what}.`);
  return sendAndPrint(runtime, options, request, { say });
}

/** `assay toolset equip`, or without a name `assay toolset unequip`. */
function equipToolset(runtime: Runtime, name: string | undefined, options: JsonOptions): Promise<number> {
  const path = name === undefined ? '/toolsets/unequip' : apiPath`/toolsets/${name}/equip`;
  return withApi(runtime, options, async (api) => {
    const equipped = await api.send<Toolset | undefined>({ method: 'POST', path });
    if (!equipped.ok) return equipped;
    if (options.json === true) printJson(equipped.value ?? { equipped: null });
    else
      print(name === undefined ? 'No toolset is equipped.' : `The toolset ${quoteText(name)} is equipped.`);
    return equipped;
  });
}

/** `assay toolset delete` */
function deleteToolset(runtime: Runtime, name: string, options: DeleteOptions): Promise<number> {
  const path = apiPath`/toolsets/${name}`;
  if (options.yes !== true)
    return withApi(runtime, options, async (api) => {
      const toolset = await api.send<Toolset>({ method: 'GET', path });
      return toolset.ok ? err({ code: 'ARGUMENTS_INVALID', reason: formatLoss(toolset.value) }) : toolset;
    });
  const request = { method: 'DELETE', path, query: { unequip: 'true' } } as const;
  const say = ({ sessions }: DeletedToolset): void => {
    const had = `${formatCount(sessions, 'session')} had equipped it, and ${sessions === 1 ? 'has' : 'have'} none now.`;
    print(`Deleted the toolset ${quoteText(name)}.${sessions === 0 ? '' : ` ${had}`}`);
  };
  return sendAndPrint(runtime, options, request, { say });
}

function formatLoss({ name, toolNotes }: Toolset): string {
  const notes = toolNotes.reduce((sum, entry) => sum + entry.notes.length, 0);
  const what = notes === 0 ? 'this cannot be undone' : `${formatCount(notes, 'note')} would be lost with it`;
  return `to delete the toolset "${name}", add --yes; ${what}`;
}

/** `assay toolset review`: new tools of whole servers, and how pinned tools differ from their accepted definitions. */
function reviewToolset(runtime: Runtime, name: string, options: JsonOptions): Promise<number> {
  const request = { method: 'GET', path: apiPath`/toolsets/${name}/review` } as const;
  return sendAndPrint<ToolsetReview>(runtime, options, request, {
    say: ({ tools }) => tools.flatMap(formatReviewed).forEach(print),
    note: ({ tools, isReviewable }) => {
      if (!isReviewable)
        printError(
          `No tool of ${quoteText(name)} is pinned to a definition. \`assay toolset add\` with a refId does that.`,
        );
      if (tools.some(({ state }) => state === 'changed' || state === 'new'))
        printError(`\`assay toolset accept ${name} REFID…\` accepts exactly what is shown here.`);
    },
  });
}

/** Lines, never truncated: the part cut off might be the one that matters. */
function formatReviewed(tool: ToolsetReview['tools'][number]): readonly string[] {
  const { namespacedName, state, reason, refId = '', definition = '', now, changes = [] } = tool;
  const head = `${toPrintable(namespacedName)}: `;
  if (state === 'new') {
    const { description = '' } = readDeclared(definition);
    const about = description === '' ? [] : [`  ${toPrintable(description)}`];
    return [`${head}${style.yellow('new')}`, ...about, `  refId is ${refId}`];
  }
  if (state === 'unchanged') return [`${head}unchanged`];
  if (state !== 'changed') {
    const colour = reason === 'definition_dangerous' ? style.red : style.yellow;
    return [`${head}${colour(state)}: ${UNSERVED_CAUSES[reason ?? 'tool_gone']}`];
  }
  return [
    `${head}${style.red('changed')}`,
    ...formatChanges(changes),
    `  refId was ${refId}, is ${now?.refId ?? ''}`,
  ];
}

/** `assay toolset accept`: pins tools to their current definitions and accepts new ones; without names, all of them. */
function acceptTools(runtime: Runtime, { name, refs, options }: ToolsetInput): Promise<number> {
  const body = { pinned: true, ...(refs.length > 0 && { tools: refs }) };
  const request = { method: 'POST', path: apiPath`/toolsets/${name}/accept`, body } as const;
  const say = ({ accepted }: ToolsetWithAccepted): void => {
    const what = `${formatCount(accepted.length, 'tool')} of ${quoteText(name)}`;
    print(
      accepted.length === 0
        ? `No tool of ${quoteText(name)} has changed.`
        : `Accepted ${what} as now: ${accepted.map(quoteText).join(', ')}.`,
    );
  };
  return sendAndPrint(runtime, options, request, { say });
}
