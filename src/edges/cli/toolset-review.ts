import { counted } from '../../core/counted.ts';
import { printable } from '../../core/printable.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { LOCAL } from '../../core/subject.ts';
import { refOf, type ToolRef } from '../../core/tool-ref.ts';
import { toolsetJson } from '../../core/toolset-json.ts';
import { type Toolset, type ToolsetTool, withHeld } from '../../core/toolset.ts';
import { holdingOf } from '../../gateway/services/toolsets/holding.ts';
import { reviewsOf, type Review } from '../../gateway/services/toolsets/review.ts';
import { UNSERVED_CAUSES } from '../../gateway/services/toolsets/unserved.ts';
import { nameIn, type ToolIndex } from '../../gateway/services/toolsets/tool-index.ts';
import type { Changing } from '../../gateway/services/toolsets/toolsets.ts';
import { print, printError, printJson, quoted, style } from './output.ts';
import type { Runtime } from './runtime.ts';
import type { ToolsetInput } from './toolset-edit.ts';
import { type JsonOptions, withToolsets } from './with-opened.ts';

/** `assay toolset review`: how pinned tools differ from their accepted definitions. */
export function reviewToolset(runtime: Runtime, name: string, options: JsonOptions): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsets, tools, circumstances }) => {
    const toolset = toolsets.find(name);
    if (toolset === undefined) return err(toolsets.unknown(name));
    const isAnyHeld = toolset.tools.some(({ held }) => held !== undefined);
    const index = isAnyHeld ? await tools({ refs: heldIn(toolset), isFresh: true }) : undefined;
    if (index?.ok === false) return index;
    const reviews = index === undefined ? [] : reviewsOf(toolset, { index: index.value, ...circumstances() });
    if (options.json === true) printJson({ toolset: name, tools: reviews.map(shown) });
    else for (const line of reviews.flatMap(linesOf)) print(line);
    if (!isAnyHeld)
      printError(
        `No tool of ${quoted(name)} is held to a definition. \`assay toolset add\` with a refId does that.`,
      );
    if (reviews.some(({ state }) => state === 'changed'))
      printError(`\`assay toolset accept ${name} REFID…\` lets in exactly what is shown here.`);
    return ok(undefined);
  });
}

function heldIn({ tools }: Toolset): readonly ToolRef[] {
  return tools.flatMap(({ namespacedName, held }) => (held === undefined ? [] : [{ namespacedName }]));
}

function shown(review: Review): Readonly<Record<string, unknown>> {
  const { namespacedName, state, held } = review;
  const reason = 'reason' in review ? { reason: review.reason } : {};
  const seen = { namespacedName, state, ...reason, refId: held.refId };
  if (review.state !== 'changed') return seen;
  const { now, changes } = review;
  return { ...seen, now: { refId: now.refId, definition: now.text }, definition: held.text, changes };
}

/** Never truncated: the part cut off might be the one that matters. */
function linesOf(review: Review): readonly string[] {
  const head = `${printable(review.namespacedName)}: `;
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

/** `assay toolset accept`: pins tools to their current definitions; without names, all changed tools. */
export function acceptTools(runtime: Runtime, { name, refs, options }: ToolsetInput): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsets, tools }) => {
    const toolset = toolsets.find(name);
    if (toolset === undefined) return err(toolsets.unknown(name));
    const needed = refs.length > 0 ? refs.map(refOf) : heldIn(toolset);
    const index = await tools({ refs: needed, isFresh: true });
    if (!index.ok) return index;
    const accepted = acceptable(toolset, index.value, refs);
    if (!accepted.ok) return accepted;
    const accepting: Changing<undefined> = (current) => {
      const held = accepted.value.length === 0 ? ok(current) : withHeld(current, accepted.value);
      return held.ok ? ok({ toolset: held.value, value: undefined }) : held;
    };
    const changed = await toolsets.change(name, accepting, LOCAL.subject);
    if (!changed.ok) return changed;
    const names = accepted.value.map(({ namespacedName }) => quoted(namespacedName)).join(', ');
    if (options.json === true) printJson(toolsetJson(toolsets.find(name) ?? toolset));
    else if (names === '') print(`No tool of ${quoted(name)} has changed.`);
    else print(`Accepted ${counted(accepted.value.length, 'tool')} of ${quoted(name)} as now: ${names}.`);
    return changed;
  });
}

function acceptable(
  toolset: Toolset,
  index: ToolIndex,
  refs: readonly string[],
): Result<readonly ToolsetTool[], Refusal> {
  const changed = reviewsOf(toolset, { index, servers: [] }).filter(({ state }) => state === 'changed');
  const named =
    refs.length > 0
      ? refs.map(refOf)
      : [...new Set(changed.map((review) => review.namespacedName))].map((one) => ({ namespacedName: one }));
  const accepted: ToolsetTool[] = [];
  for (const ref of named) {
    const entry = index.resolve(ref);
    if (!entry.ok) return entry;
    const namespacedName = nameIn(entry.value);
    const tool = toolset.tools.find((one) => one.namespacedName === namespacedName);
    if (tool === undefined)
      return err({ code: 'TOOL_NOT_IN_TOOLSET', tool: namespacedName, toolset: toolset.name });
    if (tool.held === undefined) return err(unheld(namespacedName));
    accepted.push({ namespacedName, held: holdingOf(entry.value) });
  }
  return ok(accepted);
}

function unheld(tool: string): Refusal {
  const reason = `the tool "${tool}" is held to no definition; \`assay toolset add\` with its refId holds it to one`;
  return { code: 'ARGUMENTS_INVALID', reason };
}
