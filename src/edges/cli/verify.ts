import { Command, InvalidArgumentError, Option } from 'commander';
import { join, resolve } from 'node:path';
import { formatCount } from '../../core/counted.ts';
import { EXIT } from '../../core/errors.ts';
import { HINTS } from '../../core/hints/hint.ts';
import { toPrintable } from '../../core/printable.ts';
import type { AppOptions } from '../../core/command-options.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import {
  listContradictions,
  computeCoverage,
  computeReportOutcome,
  type VerifyReport,
} from '../../core/verification/report.ts';
import { differs, suggestAnnotations } from '../../core/verification/suggest-annotations.ts';
import { formatSignal, UNOBSERVED_TEXTS } from '../../core/verification/texts.ts';
import type { Verdict } from '../../core/verification/verdict.ts';
import { type VerifyFault, formatVerifyFault } from '../../core/verification/verify-fault.ts';
import type { VerifierProgram, VerifyRequest, VerifyTarget } from '../../core/verification/verifier.ts';
import { type Done, withConfig } from './common-options.ts';
import {
  formatJson,
  parsePairs,
  print,
  printRefusal,
  printError,
  printJson,
  printText,
  style,
} from './output.ts';
import { withProgress } from './progress.ts';
import type { Runtime } from './runtime.ts';
import { layoutTable } from './table.ts';

/** `assay verify SERVER` and `assay verify -- COMMAND ARG…`. */
export function verifyCommand(runtime: Runtime, done: Done, argv: readonly string[]): Command {
  const command = new Command('verify')
    .usage('[options] <server>\n       assay verify [options] -- <command> [args...]')
    .argument(
      '<server...>',
      'a server of Assay, whose verdicts are kept, or `--` followed by a command; {seed} in it is replaced by the folder of the seed data',
    )
    .description('call the tools of a server in a sandbox and compare what they do with their hints')
    .option('--tool <name...>', 'verify only these tools')
    .option('--env <name=value...>', 'variables for the command')
    .option(
      '--fixtures <file>',
      'arguments, seed data and tools never to call (default: assay-verify.json, if it exists)',
    )
    .option(
      '--recorded',
      'also call tools of a server with the arguments of recorded calls, with secrets masked; the setting activity.arguments controls whether they are recorded',
    )
    .option('--init', 'write a fixtures file to fill in, instead of verifying')
    .option('--baseline <file>', 'accept the contradictions that this file lists with a reason')
    .option('--sets <number>', 'different arguments per tool', whole, 3)
    .option('--repeats <number>', 'equal calls with each of them, at least 2', whole, 5)
    .option('--call-limit <seconds>', 'time limit for one call', whole, 10)
    .option('--time-limit <seconds>', 'time limit for the whole run', whole, 600)
    .addOption(
      new Option('--format <format>', 'format of stdout').choices([
        'table',
        'json',
        'sarif',
        'junit',
        'markdown',
      ]),
    )
    .option('--json', 'the same as --format json')
    .action(async (words: readonly string[], options: VerifyOptions) =>
      done(await verify(runtime, { words, isCommand: argv.includes('--') }, options)),
    );
  return withConfig(command);
}

function whole(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('Write a whole number above 0.');
  return Number(text);
}

interface VerifyOptions extends AppOptions {
  readonly tool?: readonly string[];
  readonly env?: readonly string[];
  readonly fixtures?: string;
  readonly recorded?: boolean;
  readonly init?: boolean;
  readonly baseline?: string;
  readonly sets: number;
  readonly repeats: number;
  readonly callLimit: number;
  readonly timeLimit: number;
  readonly format?: 'table' | 'json' | 'sarif' | 'junit' | 'markdown';
  readonly json?: boolean;
}

const FIXTURES = 'assay-verify.json';

/** What to verify: a server of Assay, or a command. */
interface VerifyWhat {
  readonly words: readonly string[];
  /** Whether they come after `--`. */
  readonly isCommand: boolean;
}

/** `assay verify SERVER` and `assay verify -- COMMAND ARG…`. Exit codes: see docs/VERIFY.md. */
export async function verify(
  runtime: Runtime,
  { words, isCommand }: VerifyWhat,
  options: VerifyOptions,
): Promise<number> {
  const wrong = (reason: string): number => printRefusal({ code: 'ARGUMENTS_INVALID', reason });
  if (options.repeats < 2) return wrong('--repeats: it must be at least 2');
  if (isCommand) {
    if (options.recorded === true)
      return wrong('--recorded is for servers; calls of a command are not recorded');
    const env = parsePairs('--env', options.env ?? [], '=');
    if (!env.ok) return printRefusal(env.error);
    return verifyTarget(runtime, { target: { command: words, cwd: process.cwd(), env: env.value } }, options);
  }
  const [name = '', ...more] = words;
  if (more.length > 0) return wrong('to verify a command, write `assay verify -- COMMAND ARGUMENTS`');
  if (options.env !== undefined) return wrong('--env is for commands; a server has its own variables');
  return verifyServer(runtime, name, options);
}

/** Verifies a server of the config or the store, and keeps the verdicts in the store. */
async function verifyServer(runtime: Runtime, name: string, options: VerifyOptions): Promise<number> {
  const opened = await runtime.openServices(options);
  if (!opened.ok) return printRefusal(opened.error);
  const { verifications, close } = opened.value;
  try {
    const found = verifications.server(name);
    if (!found.ok) return printRefusal(found.error);
    const { spec, target } = found.value;
    const keep = async (report: VerifyReport): Promise<number | undefined> => {
      const kept = await verifications.record(spec, report, LOCAL_USER.subject);
      return kept.ok ? undefined : printRefusal(kept.error);
    };
    const recorded = options.recorded === true ? await verifications.recorded(spec) : undefined;
    if (recorded?.ok === false) return printRefusal(recorded.error);
    if (recorded?.value.size === 0)
      printError(
        toPrintable(
          `warning: no arguments of calls of ${JSON.stringify(name)} are recorded. Set activity.arguments to "masked" and call its tools.`,
        ),
      );
    return await verifyTarget(runtime, { target, keep, recorded: recorded?.value }, options);
  } finally {
    await close();
  }
}

interface Verified {
  readonly target: VerifyTarget;
  /** Arguments of recorded calls, by tool. */
  readonly recorded?: VerifyRequest['recorded'] | undefined;
  /** Stores the report of a complete run; resolves with an exit code if that fails. */
  readonly keep?: (report: VerifyReport) => Promise<number | undefined>;
}

async function verifyTarget(
  runtime: Runtime,
  { target, keep, recorded = new Map() }: Verified,
  options: VerifyOptions,
): Promise<number> {
  const own = join(target.cwd, FIXTURES);
  const there = await runtime.readFile(own);
  const given = options.fixtures === undefined ? undefined : resolve(options.fixtures);
  const fixtures = given ?? (there.ok ? own : undefined);
  const program = await runtime.openVerifier();
  const stopping = new AbortController();
  void runtime.untilStopped().then(() => stopping.abort());
  const request = {
    ...{ ...target, ownEnv: process.env },
    fixtures: options.init === true ? undefined : fixtures,
    baseline: options.baseline === undefined ? undefined : resolve(options.baseline),
    tools: options.tool ?? [],
    recorded,
    limits: {
      timeMs: options.timeLimit * 1_000,
      callMs: options.callLimit * 1_000,
      sets: options.sets,
      repeats: options.repeats,
    },
    signal: stopping.signal,
  };
  if (options.init === true) {
    const drafted = await program.draftFixtures({ ...request, onProgress: () => undefined });
    return drafted.ok ? writeFixtures(runtime, given ?? own, drafted.value) : printFault(drafted.error);
  }
  const verified = await withProgress('starting the server', ({ say }) =>
    program.verify({ ...request, onProgress: ({ done, total, tool }) => say(`${bar(done, total)} ${tool}`) }),
  );
  if (!verified.ok) return printFault(verified.error);
  printReport(verified.value, { formats: program.formats, version: runtime.version }, options);
  // An interrupted run says nothing about the remaining tools, so it is not kept.
  const keepFailure = stopping.signal.aborted ? undefined : await keep?.(verified.value);
  return keepFailure ?? EXITS[computeReportOutcome(verified.value)];
}

const EXITS = { consistent: EXIT.done, contradicted: EXIT.failed, unobserved: EXIT.unavailable } as const;
const BAR_WIDTH = 20;

function bar(done: number, total: number): string {
  const full = Math.round((done / Math.max(total, 1)) * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}] ${done}/${total}`;
}

async function writeFixtures(runtime: Runtime, path: string, text: string): Promise<number> {
  if ((await runtime.readFile(path)).ok)
    return printRefusal({
      code: 'ARGUMENTS_INVALID',
      reason: `${path} exists; name another with --fixtures`,
    });
  const written = await runtime.writeFile(path, text);
  if (!written.ok) return printRefusal(written.error);
  print(
    `Wrote ${toPrintable(path)}. Replace generated arguments by real ones, and give tools that must not run a "skip" reason.`,
  );
  return EXIT.done;
}

const FAULT_EXITS: Readonly<Record<VerifyFault['code'], number>> = {
  SERVER_FAILED: EXIT.unavailable,
  SANDBOX_UNAVAILABLE: EXIT.unavailable,
  TOOL_UNKNOWN: EXIT.usage,
  FILE_UNREADABLE: EXIT.config,
  FIXTURES_INVALID: EXIT.config,
  BASELINE_INVALID: EXIT.config,
};

function printFault(fault: VerifyFault): number {
  for (const line of formatVerifyFault(fault).split('\n')) printError(toPrintable(`assay: ${line}`));
  return FAULT_EXITS[fault.code];
}

function printReport(
  report: VerifyReport,
  { formats, version }: Pick<VerifierProgram, 'formats'> & { readonly version: string },
  options: VerifyOptions,
): void {
  const format = options.json === true ? 'json' : (options.format ?? 'table');
  if (format === 'json')
    printJson({
      ...report,
      coverage: computeCoverage(report.tools),
      outcome: computeReportOutcome(report),
      suggestedAnnotations: Object.fromEntries(
        report.tools.map((tool) => [tool.name, suggestAnnotations(tool)]),
      ),
    });
  else if (format === 'table') printTable(report);
  else printText((format === 'sarif' ? formats.sarif(report, version) : formats[format](report)).trimEnd());
}

const WIDTH = 80;

function printTable(report: VerifyReport): void {
  const head = ['tool', ...HINTS.map((hint) => hint.replace('Hint', '')), 'calls'];
  const rows = report.tools.map(({ name, verdicts, coverage }) => [
    toPrintable(name),
    ...HINTS.map((hint) => cell(verdicts[hint])),
    `${coverage.successfulCalls}/${coverage.calls}`,
  ]);
  print(layoutTable(head, rows, { width: WIDTH, head: (line) => style.dim(line) }));
  for (const { tool, hint, evidence, accepted } of listContradictions(report)) {
    const note = accepted === undefined ? '' : ` (accepted: ${toPrintable(accepted)})`;
    print(
      `\n${style.red('CONTRADICTED')} ${toPrintable(tool.name)}: ${hint} is ${String(tool.declared[hint])}${note}`,
    );
    for (const { message, call, args, atMs } of evidence)
      print(
        `  ${new Date(atMs).toISOString()} call ${call} ${toPrintable(JSON.stringify(args))}\n    ${toPrintable(message)}`,
      );
  }
  printNotes(report);
  printTotals(report);
}

/** Short enough for six columns in a width of 80. */
function cell(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'contradicted':
      return style.red('CONTRADICTED');
    case 'unobserved':
      return 'UNOBSERVED';
    case 'consistent':
      return 'CONSISTENT';
    case 'not_exercised':
      return 'not exercised';
    case 'not_applicable':
      return '-';
    case 'supported':
      return 'supported';
  }
}

function printNotes({ tools, stale }: VerifyReport): void {
  for (const { name, signals, verdicts, failure } of tools) {
    const { readOnlyHint: first } = verdicts;
    const lines = [
      ...(first.kind === 'unobserved'
        ? [UNOBSERVED_TEXTS[first.reason] + (failure === undefined ? '' : `: ${failure}`)]
        : []),
      ...signals.map(formatSignal),
    ];
    if (lines.length > 0)
      print(`\n${toPrintable(name)}\n${lines.map((line) => `  ${toPrintable(line)}`).join('\n')}`);
  }
  for (const { tool, hint } of stale)
    printError(
      toPrintable(`warning: the baseline accepts ${hint} of ${tool}, which this run did not contradict`),
    );
}

function printTotals(report: VerifyReport): void {
  const { tools, toolsWithSuccess, calls, shapes } = computeCoverage(report.tools);
  const open = listContradictions(report).filter(({ accepted }) => accepted === undefined).length;
  print(
    `\n${formatCount(open, 'contradiction')}. ${toolsWithSuccess} of ${formatCount(tools, 'tool')} made a successful call; ${formatCount(calls, 'call')}, ${formatCount(shapes, 'shape')} of arguments, ${(report.tookMs / 1_000).toFixed(1)} s.`,
  );
  print(`Watched by ${report.mechanisms.join(', ')}.`);
  const reasons = Map.groupBy(report.missing, ({ why, install }) => `${why} ${install}`);
  for (const [reason, missing] of reasons)
    printError(toPrintable(`warning: no ${missing.map(({ mechanism }) => mechanism).join(', ')}. ${reason}`));
  const suggested = report.tools.filter(
    (tool) => HINTS.some((hint) => tool.verdicts[hint].kind === 'contradicted') && differs(tool),
  );
  if (suggested.length === 0) return;
  print('\nSuggested annotations:');
  for (const tool of suggested)
    print(`  ${toPrintable(tool.name)}: ${formatJson(suggestAnnotations(tool)).replaceAll(/\s+/g, ' ')}`);
}
