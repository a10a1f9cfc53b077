import { formatCount } from '../../core/counted.ts';
import { toPrintable } from '../../core/printable.ts';
import { ok } from '../../core/result.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { parseToolRef } from '../../core/tool-ref.ts';
import { readDeclared } from '../../core/hints/declared.ts';
import type { Review } from '../../gateway/services/toolsets/review.ts';
import { UNSERVED_CAUSES, type Unserved } from '../../gateway/services/toolsets/unserved.ts';
import { print, printError, printJson, quoteText, style } from './output.ts';
import type { Runtime } from './runtime.ts';
import { printToolset, type ToolsetInput } from './toolset-edit.ts';
import { type JsonOptions, withToolsets } from './with-opened.ts';

/** `assay toolset review`: new tools of whole servers, and how pinned tools differ from their accepted definitions. */
export function reviewToolset(runtime: Runtime, name: string, options: JsonOptions): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsetService }) => {
    const reviewed = await toolsetService.review(name);
    if (!reviewed.ok) return reviewed;
    const { reviews, dangerous, isReviewable } = reviewed.value;
    if (options.json === true)
      printJson({ toolset: name, tools: [...reviews.map(toReviewJson), ...dangerous.map(shownDangerous)] });
    else for (const line of [...reviews.flatMap(linesOf), ...dangerous.map(dangerousLine)]) print(line);
    if (!isReviewable)
      printError(
        `No tool of ${quoteText(name)} is pinned to a definition. \`assay toolset add\` with a refId does that.`,
      );
    if (reviews.some(({ state }) => state === 'changed' || state === 'new'))
      printError(`\`assay toolset accept ${name} REFID…\` accepts exactly what is shown here.`);
    return ok(undefined);
  });
}

function shownDangerous({ tool, reason }: Unserved): Readonly<Record<string, unknown>> {
  return { namespacedName: tool, state: 'withheld', reason };
}

function dangerousLine({ tool, reason }: Unserved): string {
  return `${toPrintable(tool)}: ${style.red('withheld')}: ${UNSERVED_CAUSES[reason]}`;
}

function toReviewJson(review: Review): Readonly<Record<string, unknown>> {
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
  const head = `${toPrintable(review.namespacedName)}: `;
  if (review.state === 'new') {
    const { description = '' } = readDeclared(review.now.text);
    return [`${head}${style.yellow('new')}`, ...lineOfText(description), `  refId is ${review.now.refId}`];
  }
  if (review.state === 'unchanged') return [`${head}unchanged`];
  if (review.state !== 'changed')
    return [`${head}${style.yellow(review.state)}: ${UNSERVED_CAUSES[review.reason]}`];
  const changes = review.changes.flatMap(({ path, before, after }) => [
    `  ${path === '' ? 'the whole' : toPrintable(path)}`,
    ...(before === undefined ? [] : [style.red(`    - ${toPrintable(before)}`)]),
    ...(after === undefined ? [] : [style.green(`    + ${toPrintable(after)}`)]),
  ]);
  const refIds = `  refId was ${review.held.refId}, is ${review.now.refId}`;
  return [`${head}${style.red('changed')}`, ...changes, refIds];
}

function lineOfText(text: string): readonly string[] {
  return text === '' ? [] : [`  ${toPrintable(text)}`];
}

/** `assay toolset accept`: pins tools to their current definitions and accepts new ones; without names, all of them. */
export function acceptTools(runtime: Runtime, { name, refs, options }: ToolsetInput): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsetService }) => {
    const chosen = refs.length === 0 ? {} : { refs: refs.map(parseToolRef) };
    const changed = await toolsetService.accept(name, chosen, LOCAL_USER);
    if (!changed.ok) return changed;
    const { view, accepted } = changed.value;
    const what = `${formatCount(accepted.length, 'tool')} of ${quoteText(name)}`;
    const sentence =
      accepted.length === 0
        ? `No tool of ${quoteText(name)} has changed.`
        : `Accepted ${what} as now: ${accepted.map(quoteText).join(', ')}.`;
    printToolset(view, options, sentence);
    return changed;
  });
}
