import { counted } from '../../core/counted.ts';
import { printable } from '../../core/printable.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { refOf, type ToolRef } from '../../core/tool-ref.ts';
import { toolsetJson } from '../../core/toolset-json.ts';
import { hasTool, type SingleTool, type Toolset, withHeld } from '../../core/toolset.ts';
import { isWhole } from '../../core/whole-server.ts';
import { declaredIn } from '../../core/hints/declared.ts';
import type { Entry } from '../../gateway/catalog/listing.ts';
import { holdingOf } from '../../gateway/services/toolsets/holding.ts';
import {
  newReviewsOf,
  reviewsOf,
  withAccepted,
  type Review,
} from '../../gateway/services/toolsets/review.ts';
import { select, type SelectOptions } from '../../gateway/services/toolsets/selection.ts';
import { UNSERVED_CAUSES, unservedIn, type Unserved } from '../../gateway/services/toolsets/unserved.ts';
import { nameIn } from '../../gateway/services/toolsets/tool-index.ts';
import type { Changing } from '../../gateway/services/toolsets/toolsets.ts';
import { print, printError, printJson, quoted, style } from './output.ts';
import type { Runtime } from './runtime.ts';
import type { ToolsetInput } from './toolset-edit.ts';
import { type JsonOptions, withToolsets } from './with-opened.ts';

/** `assay toolset review`: new tools of whole servers, and how pinned tools differ from their accepted definitions. */
export function reviewToolset(runtime: Runtime, name: string, options: JsonOptions): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsets, tools, selectOptions }) => {
    const toolset = toolsets.find(name);
    if (toolset === undefined) return err(toolsets.unknown(name));
    const refs = reviewableIn(toolset);
    const index = refs.length > 0 ? await tools({ refs, isFresh: true }) : undefined;
    if (index?.ok === false) return index;
    const among = index === undefined ? undefined : { index: index.value, ...selectOptions() };
    const reviews =
      among === undefined ? [] : [...reviewsOf(toolset, among), ...newReviewsOf(toolset, among)];
    const unserved = among === undefined ? [] : unservedIn(toolset, among);
    const dangerous = unserved.filter(({ reason }) => reason === 'definition_dangerous');
    if (options.json === true)
      printJson({ toolset: name, tools: [...reviews.map(shown), ...dangerous.map(shownDangerous)] });
    else for (const line of [...reviews.flatMap(linesOf), ...dangerous.map(dangerousLine)]) print(line);
    if (refs.length === 0)
      printError(
        `No tool of ${quoted(name)} is pinned to a definition. \`assay toolset add\` with a refId does that.`,
      );
    if (reviews.some(({ state }) => state === 'changed' || state === 'new'))
      printError(`\`assay toolset accept ${name} REFID…\` accepts exactly what is shown here.`);
    return ok(undefined);
  });
}

/** Pinned tools and whole servers. */
function reviewableIn({ tools }: Toolset): readonly ToolRef[] {
  return tools
    .filter((tool) => tool.held !== undefined || isWhole(tool))
    .map(({ namespacedName }) => ({ namespacedName }));
}

function shownDangerous({ tool, reason }: Unserved): Readonly<Record<string, unknown>> {
  return { namespacedName: tool, state: 'withheld', reason };
}

function dangerousLine({ tool, reason }: Unserved): string {
  return `${printable(tool)}: ${style.red('withheld')}: ${UNSERVED_CAUSES[reason]}`;
}

function shown(review: Review): Readonly<Record<string, unknown>> {
  const { namespacedName, state } = review;
  if (state === 'new') return { namespacedName, state, refId: review.now.refId, definition: review.now.text };
  const { held } = review;
  const reason = 'reason' in review ? { reason: review.reason } : {};
  const seen = { namespacedName, state, ...reason, refId: held.refId };
  if (review.state !== 'changed') return seen;
  const { now, changes } = review;
  return { ...seen, now: { refId: now.refId, definition: now.text }, definition: held.text, changes };
}

/** Never truncated: the part cut off might be the one that matters. */
function linesOf(review: Review): readonly string[] {
  const head = `${printable(review.namespacedName)}: `;
  if (review.state === 'new') {
    const { description = '' } = declaredIn(review.now.text);
    return [`${head}${style.yellow('new')}`, ...lineOfText(description), `  refId is ${review.now.refId}`];
  }
  if (review.state === 'unchanged') return [`${head}unchanged`];
  if (review.state !== 'changed')
    return [`${head}${style.yellow(review.state)}: ${UNSERVED_CAUSES[review.reason]}`];
  const changes = review.changes.flatMap(({ path, before, after }) => [
    `  ${path === '' ? 'the whole' : printable(path)}`,
    ...(before === undefined ? [] : [style.red(`    - ${printable(before)}`)]),
    ...(after === undefined ? [] : [style.green(`    + ${printable(after)}`)]),
  ]);
  const refIds = `  refId was ${review.held.refId}, is ${review.now.refId}`;
  return [`${head}${style.red('changed')}`, ...changes, refIds];
}

function lineOfText(text: string): readonly string[] {
  return text === '' ? [] : [`  ${printable(text)}`];
}

/** `assay toolset accept`: pins tools to their current definitions and accepts new ones; without names, all of them. */
export function acceptTools(runtime: Runtime, { name, refs, options }: ToolsetInput): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsets, tools, selectOptions }) => {
    const toolset = toolsets.find(name);
    if (toolset === undefined) return err(toolsets.unknown(name));
    const needed = refs.length > 0 ? refs.map(refOf) : reviewableIn(toolset);
    const index = await tools({ refs: needed, isFresh: true });
    if (!index.ok) return index;
    const accepted = acceptable(toolset, { index: index.value, ...selectOptions() }, refs);
    if (!accepted.ok) return accepted;
    const { pinned, fresh } = accepted.value;
    const accepting: Changing<undefined> = (current) => {
      const held = pinned.length === 0 ? ok(current) : withHeld(current, pinned);
      return held.ok ? ok({ toolset: withAccepted(held.value, fresh), value: undefined }) : held;
    };
    const changed = await toolsets.change(name, accepting, LOCAL_USER.subject);
    if (!changed.ok) return changed;
    const names = [...pinned.map(({ namespacedName }) => namespacedName), ...fresh.map(nameIn)];
    if (options.json === true) printJson(toolsetJson(toolsets.find(name) ?? toolset));
    else if (names.length === 0) print(`No tool of ${quoted(name)} has changed.`);
    else
      print(
        `Accepted ${counted(names.length, 'tool')} of ${quoted(name)} as now: ${names.map(quoted).join(', ')}.`,
      );
    return changed;
  });
}

interface Acceptable {
  readonly pinned: readonly SingleTool[];
  /** New tools of whole servers. */
  readonly fresh: readonly Entry[];
}

function acceptable(
  toolset: Toolset,
  options: SelectOptions,
  refs: readonly string[],
): Result<Acceptable, Refusal> {
  const { index } = options;
  const { fresh } = select(toolset, options);
  const changed = reviewsOf(toolset, { index, servers: [] }).filter(({ state }) => state === 'changed');
  const named =
    refs.length > 0
      ? refs.map(refOf)
      : [...new Set(changed.map((review) => review.namespacedName))].map((one) => ({ namespacedName: one }));
  const pinned: SingleTool[] = [];
  const chosen: Entry[] = [];
  for (const ref of named) {
    const entry = index.resolve(ref);
    if (!entry.ok) return entry;
    const namespacedName = nameIn(entry.value);
    const tool = toolset.tools.find((one) => one.namespacedName === namespacedName);
    const isNew = fresh.some((one) => nameIn(one) === namespacedName);
    if (tool === undefined && !hasTool(toolset, namespacedName))
      return err({ code: 'TOOL_NOT_IN_TOOLSET', tool: namespacedName, toolset: toolset.name });
    if (tool === undefined) chosen.push(...(isNew ? [entry.value] : []));
    else if (tool.held === undefined) return err(unheld(namespacedName));
    else pinned.push({ namespacedName, held: holdingOf(entry.value) });
  }
  return ok({ pinned, fresh: refs.length > 0 ? chosen : fresh });
}

function unheld(tool: string): Refusal {
  const reason = `the tool "${tool}" is not pinned to a definition; pin it with \`assay toolset add\` and its refId`;
  return { code: 'ARGUMENTS_INVALID', reason };
}
