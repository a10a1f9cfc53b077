import { counted } from '../../core/counted.ts';
import { EXIT } from '../../core/errors.ts';
import { printable } from '../../core/printable.ts';
import { serverStatuses, missingFrom } from '../../gateway/catalog/server-status.ts';
import type { LintLevels } from '../../core/hints/lint.ts';
import { declaredOf, definitionJson, isWithheld } from '../../gateway/catalog/definition-facts.ts';
import { countedIn } from '../../gateway/services/tools/review-counts.ts';
import {
  driftView,
  hintViews,
  lintOf,
  servingOf,
  shownMembers,
} from '../../gateway/services/tools/tool-view.ts';
import type { Entry } from '../../gateway/catalog/listing.ts';
import { nameIn, refIdIn } from '../../gateway/services/toolsets/tool-index.ts';
import { printComplaint, print, printError, printJson, tableOf } from './output.ts';
import { reviewNote } from './review.ts';
import type { AppOptions } from '../../core/command-options.ts';
import type { Runtime } from './runtime.ts';

/** `assay tools`: every tool under its public name; deviations from the servers' definitions on stderr. */
export async function listTools(
  runtime: Runtime,
  options: AppOptions & { readonly json?: boolean },
): Promise<number> {
  const opened = await runtime.openCatalog(options);
  if (!opened.ok) return printComplaint(opened.error);
  const { catalog, close, lintLevels } = opened.value;
  await catalog.settled();
  const { entries, disabled } = catalog.all.listing('tools');
  const reports = catalog.reports().map(({ text }) => text);
  const conditions = serverStatuses(catalog);
  const listFaults = conditions.flatMap(({ name, listFaults: faults = [] }) =>
    faults.map((fault) => ({ server: name, ...fault })),
  );
  const down = conditions.flatMap(({ name, state, cause = UNANSWERED, causeCode }) =>
    state === 'up' ? [] : [{ name, state, cause, causeCode }],
  );
  if (options.json === true) {
    printJson({ tools: entries.map((entry) => shown(entry, lintLevels)), down, listFaults, reports });
  } else {
    print(tableOf(['TOOL', 'SERVER', 'HINTS', 'DESCRIPTION'], entries.map(row)));
    for (const { key } of disabled) printError(`note: ${printable(key)} is disabled by an operator`);
    const review = countedIn(entries);
    if (review !== undefined) printError(reviewNote(review));
    const doubtful = entries.filter((entry) => hasErrors(entry, lintLevels)).length;
    if (doubtful > 0)
      printError(`note: the hints of ${counted(doubtful, 'tool')} are wrong; \`assay lint\` says how`);
    for (const report of reports) printError(`note: ${printable(report)}`);
    for (const lack of conditions.map(missingFrom))
      if (lack !== undefined) printError(printable(`warning: ${lack}`));
  }
  await close();
  return down.length > 0 && down.length === conditions.length ? EXIT.unavailable : EXIT.done;
}

const UNANSWERED = 'it has not answered yet';

function shown(entry: Entry, levels: LintLevels): Readonly<Record<string, unknown>> {
  const { definition, name, server } = entry;
  const resolved = server.claims.resolvedOf(server.spec, definition);
  const tool = { name, declared: declaredOf(definition), resolved };
  const drift = server.claims.driftOf(server.spec, definition);
  return {
    ...definitionJson(definition),
    ...shownMembers(entry),
    ...servingOf(entry),
    hints: hintViews(resolved),
    lint: lintOf(tool, levels),
    ...(drift !== undefined && { drift: driftView(drift) }),
    name: entry.key,
    server: entry.server.spec.name,
    namespacedName: nameIn(entry),
    refId: refIdIn(entry),
  };
}

/** The risk in one word, as clients see it, and idempotence. */
function badgesOf({ definition, server }: Entry): string {
  if (isWithheld(definition)) return 'withheld';
  const { readOnlyHint, destructiveHint, idempotentHint } = server.claims.resolvedOf(server.spec, definition);
  const isSaid = readOnlyHint.emitted !== undefined || destructiveHint.emitted !== undefined;
  if (!isSaid) return 'unannotated';
  if (readOnlyHint.effective.value) return 'read-only';
  const risk = destructiveHint.effective.value ? 'destructive' : 'writes';
  return idempotentHint.effective.value ? `${risk}, idempotent` : risk;
}

function hasErrors({ definition, name, server }: Entry, levels: LintLevels): boolean {
  const tool = {
    name,
    declared: declaredOf(definition),
    resolved: server.claims.resolvedOf(server.spec, definition),
  };
  return lintOf(tool, levels).some(({ level }) => level === 'error');
}

const MAX_DESCRIPTION_LENGTH = 100;

function row(entry: Entry): readonly string[] {
  const { description } = definitionJson(entry.definition);
  const text = typeof description === 'string' ? description.replace(/\s+/g, ' ').trim() : '';
  const cut = text.slice(0, MAX_DESCRIPTION_LENGTH - 1).replace(/[\ud800-\udbff]$/, '');
  const short = text.length > MAX_DESCRIPTION_LENGTH ? `${cut}…` : text;
  return [entry.key, entry.server.spec.name, badgesOf(entry), short];
}
