import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import type { CatalogReport, CatalogTool, ServerStatus } from '../../api/status.ts';
import { isReady } from '../../core/supervision.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import { EXIT } from '../../core/errors.ts';
import { HINTS } from '@assay-mcp/kit/hint';
import { parseLintLevel } from '../../core/hints/lint-levels.ts';
import {
  LINT_RULES,
  type LintFinding,
  type LintLevel,
  type LintLevels,
  type LintRule,
} from '../../core/hints/lint.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { toPrintable } from '@assay-mcp/kit/printable';
import { findMissingReason } from '../../gateway/catalog/server-status.ts';
import type { AppOptions } from '../../core/command-options.ts';
import { type Done, withConfig } from './common-options.ts';
import { formatJson, print, printError, printText, style } from '@assay-mcp/kit/platform/terminal/print';
import { parseReports, type WantedReport, writeReports } from '@assay-mcp/kit/platform/terminal/reports';
import { formatLintJunit, formatLintSarif, type LintedTool } from './lint-reports.ts';
import { printRefusal } from './output.ts';
import { formatReviewNote } from './review.ts';
import type { Runtime } from './runtime.ts';
import { readReport } from './tools.ts';
import { withApiExit } from './with-api.ts';

/** `assay lint [SERVER]` and `assay lint -- COMMAND ARG…`. */
export function lintCommand(runtime: Runtime, done: Done, argv: readonly string[]): Command {
  return withConfig(
    new Command('lint')
      .usage('[options] [server]\n       assay lint [options] -- <command> [args...]')
      .argument('[server...]', 'only check this server, or the one that the command after `--` starts')
      .description('check the hints of tools')
      .option('--json', 'the same as --format json')
      .addOption(
        new Option('--format <format>', 'format of stdout').choices(['table', 'json', 'sarif', 'junit']),
      )
      .option(
        '--report <format=file...>',
        'also write the report to this file; the format may be left out with the endings .json, .sarif and .xml (JUnit)',
      )
      .option('--verbose', 'show each tool with what to do')
      .option('--strict', 'exit with an error on warnings too')
      .option(
        '--rule <rule=level...>',
        'set the severity of a rule to error, warning or off (default: from the settings)',
      )
      .action(async (words: readonly string[], options: LintOptions) =>
        done(await (argv.includes('--') ? lintWords : lintServer)(runtime, words, options)),
      ),
  );
}

interface LintOptions extends AppOptions {
  readonly json?: boolean;
  readonly format?: 'table' | LintFormat;
  readonly report?: readonly string[];
  readonly strict?: boolean;
  readonly verbose?: boolean;
  /** `missing-hints=off` */
  readonly rule?: readonly string[];
}

type LintFormat = keyof typeof ENDINGS;

const ENDINGS = { json: '.json', sarif: '.sarif', junit: '.xml' } as const;

interface Linted extends LintedTool {
  /** Whether clients get any hint of it. */
  readonly hasHints: boolean;
  readonly isSuggested: boolean;
}

/** `assay lint [SERVER]` */
async function lintServer(
  runtime: Runtime,
  [server, ...more]: readonly string[],
  options: LintOptions,
): Promise<number> {
  if (more.length === 0) return lintTools(runtime, server, options);
  const reason = 'to check a command, write `assay lint -- COMMAND ARGUMENTS`';
  return printRefusal({ code: 'ARGUMENTS_INVALID', reason });
}

/** Checks the tools of a command, as the only server of a home that is removed afterwards. */
async function lintWords(
  runtime: Runtime,
  [command = '', ...args]: readonly string[],
  options: LintOptions,
): Promise<number> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'assay-lint-'));
  try {
    const config = join(folder, 'mcp.json');
    const entry = { command, args, cwd: process.cwd() };
    await writeFile(config, JSON.stringify({ mcpServers: { [COMMAND]: entry } }), { mode: 0o600 });
    // The settings and the store of the user's own gateway have no part in this.
    const environment = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('ASSAY_')),
    );
    const home = join(folder, 'home');
    return await lintTools(runtime, COMMAND, { ...options, config, home, environment });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The name of a server that a command line starts. */
const COMMAND = 'command';

/** Checks tools' hints. A server whose tools cannot be listed is also a failure. */
async function lintTools(
  runtime: Runtime,
  server: string | undefined,
  options: LintOptions,
): Promise<number> {
  const levels = levelsOf(options.rule ?? []);
  if (!levels.ok) return printRefusal(levels.error);
  const rules = Object.entries(levels.value).map(([rule, level]) => `${rule}=${level}`);
  const reports = parseReports<LintFormat>(options.report ?? [], ENDINGS);
  if (!reports.ok) return printRefusal({ code: 'ARGUMENTS_INVALID', reason: reports.error });
  const query = { refresh: 'true', ...(rules.length > 0 && { rules: rules.join(',') }) };
  return withApiExit(runtime, options, async (api) => {
    const report = await readReport(api, server, query);
    return report.ok ? ok(await printFindings(report.value, options, reports.value)) : report;
  });
}

async function printFindings(
  { tools: listed, servers, review }: CatalogReport,
  options: LintOptions,
  reports: readonly WantedReport<LintFormat>[],
): Promise<number> {
  const tools = listed.map(lintedTool);
  const down = servers.filter(hasNoTools);
  const all = tools.flatMap(({ findings }) => findings);
  const errors = all.filter(({ level }) => level === 'error').length;
  const totals = { tools: tools.length, errors, warnings: all.length - errors };
  const found = tools.flatMap(({ server, tool, findings }) =>
    findings.length > 0 ? [{ server, tool, findings }] : [],
  );
  const texts: Readonly<Record<LintFormat, () => string | Promise<string>>> = {
    json: () => formatJson({ ...totals, findings: found, down: down.map(downJson), review }),
    sarif: () => formatLintSarif(tools, SUMMARIES, process.cwd()),
    junit: () => formatLintJunit(tools, options.strict === true, performance.now() / 1_000),
  };
  const wanted = options.json === true ? 'json' : (options.format ?? 'table');
  if (wanted !== 'table') printText((await texts[wanted]()).trimEnd());
  else if (reports.every(({ file }) => file !== undefined)) show(tools, totals, options.verbose === true);
  const written = await writeReports(reports, (format) => texts[format]());
  if (!written.ok) {
    const { file, problem } = written.error;
    return printRefusal({ code: 'FILE_UNWRITABLE', path: file, reason: problem });
  }
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
function lintedTool({ server, namespacedName, lint, hints, suggested }: CatalogTool): Linted {
  return {
    server,
    tool: namespacedName.slice(server.length + 1),
    findings: lint,
    hasHints: HINTS.some((hint) => hints[hint].emitted !== undefined),
    isSuggested: suggested !== undefined,
  };
}

/** Whether the server's tools cannot be checked. */
function hasNoTools({ state, listFaults = [] }: ServerStatus): boolean {
  return !isReady({ state }) || listFaults.some(({ list }) => list === 'tools');
}

function downJson({ name, state, cause, causeCode, listFaults }: ServerStatus): unknown {
  return { name, state, cause, causeCode, listFaults };
}

interface Totals {
  readonly tools: number;
  readonly errors: number;
  readonly warnings: number;
}

/** What the tools with a finding of a rule have in common. */
const SUMMARIES: Readonly<Record<LintRule, string>> = {
  contradiction: 'said to be read-only and destructive at once',
  'not-boolean': 'with a hint that is neither true nor false',
  'telling-words': 'with a hint that the name or description speaks against',
  'missing-hints': 'without some hints, so clients assume the worst',
  'hidden-text': 'with characters that models read and people do not see',
};

function show(
  tools: readonly Linted[],
  { tools: count, errors, warnings }: Totals,
  isVerbose: boolean,
): void {
  const servers = [...Map.groupBy(tools, (tool) => tool.server)].toSorted(byErrors);
  for (const [server, some] of servers) {
    const found = some.filter(({ findings }) => findings.length > 0);
    if (found.length > 0) print(style.bold(toPrintable(server)));
    if (isVerbose) found.forEach(showTool);
    else showRules(found);
  }
  print(
    `${formatCount(count, 'tool')}: ${formatCount(errors, 'error')}, ${formatCount(warnings, 'warning')}.`,
  );
  for (const [server, some] of servers) showSuggestion(server, some);
  if (errors + warnings > 0 && !isVerbose) printError('`--verbose` shows each tool and what to do.');
  if (errors + warnings > 0)
    printError('If the server is yours, `assay docs true-hints` says how to choose and test its hints.');
}

/** Servers with errors come first. */
function byErrors(
  one: readonly [string, readonly Linted[]],
  other: readonly [string, readonly Linted[]],
): number {
  const [first, second] = [one, other].map(([, tools]) =>
    tools.some(({ findings }) => findings.some(({ level }) => level === 'error')) ? 0 : 1,
  );
  return (first ?? 0) - (second ?? 0);
}

function showTool({ tool, findings }: Linted): void {
  print(`  ${toPrintable(tool)}`);
  for (const { level, rule, message, remedy } of findings)
    print(
      `    ${formatLevel(level)}  ${toPrintable(message)} ${toPrintable(remedy)} ${style.dim(`(${rule})`)}`,
    );
}

/** One line for each rule, contradictions first. An error names all its tools. */
function showRules(tools: readonly Linted[]): void {
  for (const rule of LINT_RULES) {
    const found = tools.filter(({ findings }) => findings.some((finding) => finding.rule === rule));
    const [finding] = found.flatMap(({ findings }) => findings.filter((one) => one.rule === rule));
    if (finding === undefined) continue;
    const names = found.map(({ tool }) => toPrintable(tool));
    const shown = finding.level === 'error' ? names : names.slice(0, MAX_NAMES);
    const more = names.length > shown.length ? [`${names.length - shown.length} more`] : [];
    const listed = style.dim([...shown, ...more].join(', '));
    const summary = `${formatCount(found.length, 'tool')} ${SUMMARIES[rule]} (${rule}): ${listed}`;
    print(`  ${formatLevel(finding.level)}  ${summary}`);
  }
}

const MAX_NAMES = 3;

function formatLevel(level: LintFinding['level']): string {
  return level === 'error' ? style.red(level) : style.yellow(level);
}

function showSuggestion(server: string, tools: readonly Linted[]): void {
  const suggested = tools.filter(({ isSuggested }) => isSuggested).length;
  if (suggested === 0) return;
  const bare = tools.filter(({ hasHints }) => !hasHints).length;
  const declare = bare === 1 ? 'declares' : 'declare';
  const read = suggested === 1 ? 'reads, by its name' : 'read, by their names';
  const name = toPrintable(server);
  printError(
    `${formatCount(bare, 'tool')} of ${name} ${declare} no hints; ${suggested} ${read}: \`assay hints ${name} --suggested\``,
  );
}
