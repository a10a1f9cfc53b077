import { Command } from 'commander';
import type { CatalogReport, CatalogTool, ServerStatus } from '../../api/status.ts';
import { formatCount } from '../../core/counted.ts';
import { EXIT } from '../../core/errors.ts';
import { parseLintLevel } from '../../core/hints/lint-levels.ts';
import {
  LINT_RULES,
  type LintFinding,
  type LintLevel,
  type LintLevels,
  type LintRule,
} from '../../core/hints/lint.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { toPrintable } from '../../core/printable.ts';
import { findMissingReason } from '../../gateway/catalog/server-status.ts';
import type { AppOptions } from '../../core/command-options.ts';
import { type Done, withConfig } from './common-options.ts';
import { printRefusal, print, printError, printJson, style } from './output.ts';
import { formatReviewNote } from './review.ts';
import type { Runtime } from './runtime.ts';
import { readReport } from './tools.ts';
import { withApiExit } from './with-api.ts';

/** `assay lint` */
export function lintCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('lint')
      .argument('[server]', 'only check this server')
      .description('check the hints of tools')
      .option('--json', 'print JSON')
      .option('--strict', 'exit with an error on warnings too')
      .option(
        '--rule <rule=level...>',
        'set the severity of a rule to error, warning or off (default: from the settings)',
      )
      .action(async (server: string | undefined, options: LintOptions) =>
        done(await lintTools(runtime, server, options)),
      ),
  );
}

interface LintOptions extends AppOptions {
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

/** `assay lint [SERVER]`: checks tools' hints. A server whose tools cannot be listed is also a failure. */
async function lintTools(
  runtime: Runtime,
  server: string | undefined,
  options: LintOptions,
): Promise<number> {
  const levels = levelsOf(options.rule ?? []);
  if (!levels.ok) return printRefusal(levels.error);
  const rules = Object.entries(levels.value).map(([rule, level]) => `${rule}=${level}`);
  const query = { refresh: 'true', ...(rules.length > 0 && { rules: rules.join(',') }) };
  return withApiExit(runtime, options, async (api) => {
    const report = await readReport(api, server, query);
    return report.ok ? ok(printFindings(report.value, options)) : report;
  });
}

function printFindings({ tools: listed, servers, review }: CatalogReport, options: LintOptions): number {
  const tools = listed.map(lintedTool);
  const down = servers.filter(hasNoTools);
  const all = tools.flatMap(({ findings }) => findings);
  const errors = all.filter(({ level }) => level === 'error').length;
  const totals = { tools: tools.length, errors, warnings: all.length - errors };
  if (options.json === true) {
    const found = tools.filter(({ findings }) => findings.length > 0);
    printJson({ ...totals, findings: found, down: down.map(downJson), review });
  } else show(tools, totals);
  if (review !== undefined) printError(formatReviewNote(review));
  for (const lack of servers.map(findMissingReason))
    if (lack !== undefined) printError(toPrintable(`warning: ${lack}`));
  if (down.length > 0) return EXIT.unavailable;
  return totals.errors > 0 || (options.strict === true && totals.warnings > 0) ? EXIT.failed : EXIT.done;
}

function levelsOf(rules: readonly string[]): Result<Partial<LintLevels>, Refusal> {
  const levels: Partial<Record<LintRule, LintLevel>> = {};
  for (const text of rules) {
    const read = parseLintLevel(text);
    if (read === undefined) {
      const reason = `--rule ${text}: write RULE=error, RULE=warning or RULE=off; there are the rules ${LINT_RULES.join(', ')}`;
      return err({ code: 'ARGUMENTS_INVALID', reason });
    }
    levels[read.rule] = read.level;
  }
  return ok(levels);
}

/** Uses the tool's own name, which its server's author knows. */
function lintedTool({ server, namespacedName, lint }: CatalogTool): Linted {
  return { server, tool: namespacedName.slice(server.length + 1), findings: lint };
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
    if (found.length > 0) print(style.bold(toPrintable(server)));
    for (const { tool, findings } of found) {
      print(`  ${toPrintable(tool)}`);
      for (const { level, rule, message, remedy } of findings) {
        const shown = level === 'error' ? style.red(level) : style.yellow(level);
        print(`    ${shown}  ${toPrintable(message)} ${toPrintable(remedy)} ${style.dim(`(${rule})`)}`);
      }
    }
  }
  print(
    `${formatCount(count, 'tool')}: ${formatCount(errors, 'error')}, ${formatCount(warnings, 'warning')}.`,
  );
  if (errors + warnings > 0)
    printError('If the server is yours, docs/TRUE-HINTS.md says how to choose and test its hints.');
}
