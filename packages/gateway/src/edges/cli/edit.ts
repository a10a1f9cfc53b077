import { Command, Option } from 'commander';
import { type Confirm, CONFIRMS } from '../../core/confirm.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { toArgumentRefusal, type Refusal } from '../../core/refusal.ts';
import { err, type Result } from '@assay-mcp/kit/result';
import {
  findTagsFault,
  MAX_CACHE_MS,
  findPublicNameFault,
  findToolDescriptionFault,
} from '../../core/tool-settings.ts';
import type { Tool } from '../../api/tool.ts';
import type { CodedProblem } from '../../api/problem.ts';
import { type Done, withConfig, type JsonOptions } from './common-options.ts';
import { findTool } from './hints.ts';
import { print, printError, printJson, quoteText } from '@assay-mcp/kit/platform/terminal/print';
import { printRefusal } from './output.ts';
import type { Runtime } from './runtime.ts';
import { apiPath, withApi } from './with-api.ts';

/** `assay edit` */
export function editCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('edit')
      .argument('<tool>', 'public or namespaced name of the tool')
      .description(
        'override the name, title or description of a tool, how often it is confirmed, what is cached, or its tags',
      )
      .option('--name <name>', 'new name, without the server prefix; "" restores the original')
      .option('--title <text>', 'new title; "" restores the original')
      .option('--description <text>', 'new description; "" restores the original')
      .addOption(
        new Option(
          '--confirm <when>',
          'how often its calls must be confirmed; "default" restores policy.confirm',
        ).choices([...['always', 'first', 'session', 'never', 'default']]),
      )
      .option('--cache <seconds>', 'how long its results are cached; "off", or "default" for cache.ttlMs')
      .option('--tag <tag>', 'add a tag, for rules; private and outbound have a special meaning', listed)
      .option('--untag <tag>', 'remove a tag', listed)
      .option('--reason <text>', 'reason for the change, shown to later reviewers')
      .option('--json', 'print JSON')
      .action(async (tool: string, options: EditOptions) => done(await editTool(runtime, tool, options))),
  );
}

function listed(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

interface EditOptions extends JsonOptions {
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  readonly confirm?: string;
  readonly cache?: string;
  readonly tag?: readonly string[];
  readonly untag?: readonly string[];
  readonly reason?: string;
}

/** `assay edit`: the operator's name, title, description and tags of a tool. An empty text restores the server's. */
async function editTool(runtime: Runtime, tool: string, options: EditOptions): Promise<number> {
  const { name, title, description, confirm, cache, tag, untag, reason } = options;
  const isNothing = [name, title, description, confirm, cache, tag, untag].every(
    (given) => given === undefined,
  );
  const wrong: Refusal | undefined = isNothing
    ? {
        code: 'ARGUMENTS_INVALID',
        reason: 'say what to change: --name, --title, --description, --confirm, --cache, --tag or --untag',
      }
    : (toArgumentRefusal('--name', name ? findPublicNameFault(name) : undefined) ??
      toArgumentRefusal('--description', description ? findToolDescriptionFault(description) : undefined) ??
      toArgumentRefusal('--cache', cacheFault(cache)));
  if (wrong !== undefined) return printRefusal(wrong);
  return withApi(runtime, options, async (api): Promise<Result<unknown, Refusal | CodedProblem>> => {
    const found = await findTool(api, tool);
    if (!found.ok) return found;
    if (found.value.source === 'rest' && (name !== undefined || description !== undefined))
      return err({
        code: 'ARGUMENTS_INVALID',
        reason: 'a REST tool cannot be renamed, and its description is changed with `PATCH /tools/{id}`',
      });
    const tags = tagsWith(found.value.tags ?? [], options);
    const wrongTags = toArgumentRefusal('--tag', tags && findTagsFault(tags));
    if (wrongTags !== undefined) return err(wrongTags);
    const body = {
      name: restored(name),
      title: restored(title),
      description: restored(description),
      confirm: confirmIn(confirm),
      cacheMs: cacheMsIn(cache),
      tags,
      reason,
    };
    const path = apiPath`/tools/${found.value.id}`;
    const edited = await api.send<Tool>({ method: 'PATCH', path, body });
    if (!edited.ok) return edited;
    if (options.json === true) printJson(edited.value);
    else show(edited.value);
    return edited;
  });
}

function restored(text: string | undefined): string | null | undefined {
  return text === '' ? null : text;
}

/** `session` is a synonym of `first`, and `default` returns to the preference. */
function confirmIn(given: string | undefined): Confirm | null | undefined {
  if (given === undefined) return undefined;
  return CONFIRMS.find((known) => known === (given === 'session' ? 'first' : given)) ?? null;
}

/** `off` keeps no results, and `default` returns to the setting. */
function cacheMsIn(given: string | undefined): number | null | undefined {
  if (given === undefined) return undefined;
  if (given === 'default') return null;
  return given === 'off' ? 0 : Number(given) * 1_000;
}

function cacheFault(given: string | undefined): string | undefined {
  const ms = cacheMsIn(given);
  const isFit = ms === undefined || ms === null || (Number.isInteger(ms) && ms >= 0 && ms <= MAX_CACHE_MS);
  return isFit ? undefined : `it must be off, default, or a number of seconds up to ${MAX_CACHE_MS / 1_000}`;
}

function tagsWith(
  before: readonly string[],
  { tag, untag = [] }: EditOptions,
): readonly string[] | undefined {
  if (tag === undefined && untag.length === 0) return undefined;
  return [...new Set([...before, ...(tag ?? [])])].filter((one) => !untag.includes(one));
}

function show({ name, namespacedName, title, description, confirm, cacheMs, tags, original }: Tool): void {
  print(`Clients see ${quoteText(namespacedName)} as ${quoteText(name)}.`);
  if (title !== undefined) print(`Title: ${toPrintable(title)}`);
  if (description !== undefined) print(`Description: ${toPrintable(description)}`);
  if (confirm !== undefined) print(`Confirm: ${confirm}`);
  if (cacheMs !== undefined) print(`Cache: ${shownCache(cacheMs)}`);
  if (tags !== undefined) print(`Tags: ${toPrintable(tags.join(', '))}`);
  if (original?.description !== undefined && original.description !== description)
    printError(`Its server says: ${toPrintable(original.description)}`);
}

function shownCache(cacheMs: number | 'suspended'): string {
  if (cacheMs === 'suspended') return cacheMs;
  return cacheMs === 0 ? 'off' : `${cacheMs / 1_000} s`;
}
