import { counted } from '../../core/counted.ts';
import { EXIT } from '../../core/errors.ts';
import { lintLevelIn } from '../../core/hints/lint-levels.ts';
import { LINT_RULES, type LintFinding, type LintLevels } from '../../core/hints/lint.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { printable } from '../../core/printable.ts';
import { serverStatuses, missingFrom, type ServerStatus } from '../../gateway/catalog/server-status.ts';
import { declaredOf } from '../../gateway/catalog/definition-facts.ts';
import { lintOf } from '../../gateway/services/tools/tool-view.ts';
import { countedIn } from '../../gateway/services/tools/review-counts.ts';
import type { Entry } from '../../gateway/catalog/listing.ts';
import { printComplaint, print, printError, printJson, style } from './output.ts';
import { reviewNote } from './review.ts';
import type { AppOptions } from '../../core/command-options.ts';
import type { OpenTools, Runtime } from './runtime.ts';

export interface LintOptions extends AppOptions {
  readonly json?: boolean;
  readonly strict?: boolean;
  /** `missing-hints=off` */
  readonly rule?: readonly string[];
}

interface Linted {
  readonly server: string;
  readonly tool: string;
  readonly findings: readonly LintFinding[];
}

/** `assay lint [SERVER]`: checks tools' hints. A server whose tools cannot be listed is a failure, too. */
export async function lintTools(
  runtime: Runtime,
  server: string | undefined,
  options: LintOptions,
): Promise<number> {
  const opened = await runtime.openCatalog(options);
  if (!opened.ok) return printComplaint(opened.error);
  try {
    const levels = levelsOf(options.rule ?? [], opened.value.lintLevels);
    return levels.ok
      ? await lintOpened(opened.value, { server, options, levels: levels.value })
      : printComplaint(levels.error);
  } finally {
    await opened.value.close();
  }
}

interface LintInput {
  readonly server: string | undefined;
  readonly options: LintOptions;
  readonly levels: LintLevels;
}

async function lintOpened({ catalog }: OpenTools, { server, options, levels }: LintInput): Promise<number> {
  const asked = catalog.servers.filter(({ spec }) => server === undefined || spec.name === server);
  await Promise.race([Promise.all(asked.map((one) => one.settled())), catalog.settled()]);
  const known = serverStatuses(catalog);
  const conditions = known.filter(({ name }) => server === undefined || name === server);
  if (server !== undefined && conditions.length === 0)
    return printComplaint({ code: 'SERVER_UNKNOWN', name: server, known: known.map(({ name }) => name) });
  const { entries, disabled } = catalog.all.listing('tools');
  const looked = [...entries, ...disabled].filter(
    (entry) => server === undefined || entry.server.spec.name === server,
  );
  const tools = looked.map((entry) => linted(entry, levels));
  const review = countedIn(looked);
  const down = conditions.filter(hasNoTools);
  const all = tools.flatMap(({ findings }) => findings);
  const errors = all.filter(({ level }) => level === 'error').length;
  const totals = { tools: tools.length, errors, warnings: all.length - errors };
  if (options.json === true) {
    const found = tools.filter(({ findings }) => findings.length > 0);
    printJson({ ...totals, findings: found, down: down.map(downJson), review });
  } else show(tools, totals);
  if (review !== undefined) printError(reviewNote(review));
  for (const lack of conditions.map(missingFrom))
    if (lack !== undefined) printError(printable(`warning: ${lack}`));
  if (down.length > 0) return EXIT.unavailable;
  return totals.errors > 0 || (options.strict === true && totals.warnings > 0) ? EXIT.failed : EXIT.done;
}

function levelsOf(rules: readonly string[], given: LintLevels): Result<LintLevels, Refusal> {
  const levels = { ...given };
  for (const text of rules) {
    const read = lintLevelIn(text);
    if (read === undefined) {
      const reason = `--rule ${text}: write RULE=error, RULE=warning or RULE=off; there are the rules ${LINT_RULES.join(', ')}`;
      return err({ code: 'ARGUMENTS_INVALID', reason });
    }
    levels[read.rule] = read.level;
  }
  return ok(levels);
}

function linted({ server, name, definition }: Entry, levels: LintLevels): Linted {
  const tool = {
    name,
    declared: declaredOf(definition),
    resolved: server.claims.resolvedOf(server.spec, definition),
  };
  return { server: server.spec.name, tool: name, findings: lintOf(tool, levels) };
}

/** Whether the server's tools cannot be checked. */
function hasNoTools({ state, listFaults = [] }: ServerStatus): boolean {
  return state !== 'up' || listFaults.some(({ list }) => list === 'tools');
}

function downJson({ name, state, cause, causeCode, listFaults }: ServerStatus): unknown {
  return { name, state, cause, causeCode, listFaults };
}

interface Totals {
  readonly tools: number;
  readonly errors: number;
  readonly warnings: number;
}

function show(tools: readonly Linted[], { tools: count, errors, warnings }: Totals): void {
  for (const [server, some] of Map.groupBy(tools, (tool) => tool.server)) {
    const found = some.filter(({ findings }) => findings.length > 0);
    if (found.length > 0) print(style.bold(printable(server)));
    for (const { tool, findings } of found) {
      print(`  ${printable(tool)}`);
      for (const { level, rule, says, remedy } of findings) {
        const shown = level === 'error' ? style.red(level) : style.yellow(level);
        print(`    ${shown}  ${printable(says)} ${printable(remedy)} ${style.dim(`(${rule})`)}`);
      }
    }
  }
  print(`${counted(count, 'tool')}: ${counted(errors, 'error')}, ${counted(warnings, 'warning')}.`);
}
