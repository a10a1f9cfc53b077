import { resolve } from 'node:path';
import { counted } from '../../core/counted.ts';
import { EXIT } from '../../core/errors.ts';
import { HINTS } from '../../core/hints/hint.ts';
import { printable } from '../../core/printable.ts';
import {
  contradictionsOf,
  coverageOf,
  outcomeOf,
  type VerifyReport,
} from '../../core/verification/report.ts';
import { differs, suggestAnnotations } from '../../core/verification/suggest-annotations.ts';
import { signalText, UNOBSERVED_TEXTS } from '../../core/verification/texts.ts';
import type { Verdict } from '../../core/verification/verdict.ts';
import {
  jsonText,
  pairsIn,
  print,
  printComplaint,
  printError,
  printJson,
  printText,
  style,
} from './output.ts';
import { withProgress } from './progress.ts';
import type { Runtime } from './runtime.ts';
import { layoutTable } from './table.ts';
import type { VerifierProgram, VerifyFault } from './verifier.ts';

export interface VerifyOptions {
  readonly tool?: readonly string[];
  readonly env?: readonly string[];
  readonly fixtures?: string;
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

/** `assay verify -- COMMAND`. Exit codes: see docs/VERIFY.md. */
export async function verifyServer(
  runtime: Runtime,
  command: readonly string[],
  options: VerifyOptions,
): Promise<number> {
  if (options.repeats < 2)
    return printComplaint({ code: 'ARGUMENTS_INVALID', reason: '--repeats: it must be at least 2' });
  const env = pairsIn('--env', options.env ?? [], '=');
  if (!env.ok) return printComplaint(env.error);
  const there = await runtime.readFile(resolve(FIXTURES));
  const fixtures = options.fixtures ?? (there.ok ? FIXTURES : undefined);
  const program = await runtime.openVerifier();
  const stopping = new AbortController();
  void runtime.untilStopped().then(() => stopping.abort());
  const request = {
    ...{ command, cwd: process.cwd(), env: env.value, ownEnv: process.env },
    fixtures: options.init === true || fixtures === undefined ? undefined : resolve(fixtures),
    baseline: options.baseline === undefined ? undefined : resolve(options.baseline),
    tools: options.tool ?? [],
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
    return drafted.ok
      ? writeFixtures(runtime, options.fixtures ?? FIXTURES, drafted.value)
      : printFault(drafted.error);
  }
  const verified = await withProgress('starting the server', ({ say }) =>
    program.verify({ ...request, onProgress: ({ done, total, tool }) => say(`${bar(done, total)} ${tool}`) }),
  );
  if (!verified.ok) return printFault(verified.error);
  printReport(verified.value, { formats: program.formats, version: runtime.version }, options);
  return EXITS[outcomeOf(verified.value)];
}

const EXITS = { consistent: EXIT.done, contradicted: EXIT.failed, unobserved: EXIT.unavailable } as const;
const BAR_WIDTH = 20;

function bar(done: number, total: number): string {
  const full = Math.round((done / Math.max(total, 1)) * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}] ${done}/${total}`;
}

async function writeFixtures(runtime: Runtime, file: string, text: string): Promise<number> {
  const path = resolve(file);
  if ((await runtime.readFile(path)).ok)
    return printComplaint({
      code: 'ARGUMENTS_INVALID',
      reason: `${file} exists; name another with --fixtures`,
    });
  const written = await runtime.writeFile(path, text);
  if (!written.ok) return printComplaint(written.error);
  print(
    `Wrote ${printable(file)}. Replace generated arguments by real ones, and give tools that must not run a "skip" reason.`,
  );
  return EXIT.done;
}

function printFault(fault: VerifyFault): number {
  switch (fault.code) {
    case 'SERVER_FAILED':
      printError(printable(`assay: The server did not start in the sandbox: ${fault.says}`));
      return EXIT.unavailable;
    case 'SANDBOX_UNAVAILABLE':
      for (const { why, install } of fault.missing) printError(printable(`assay: ${why} ${install}`));
      return EXIT.unavailable;
    case 'TOOL_UNKNOWN':
      printError(
        printable(
          `assay: The server has no tool ${JSON.stringify(fault.name)}. It has ${fault.known.join(', ')}.`,
        ),
      );
      return EXIT.usage;
    case 'FILE_UNREADABLE':
      printError(printable(`assay: ${fault.file} cannot be read: ${fault.problem}`));
      return EXIT.config;
    case 'FIXTURES_INVALID':
    case 'BASELINE_INVALID':
      printError(printable(`assay: ${fault.file}: ${fault.field} ${fault.problem}. See docs/VERIFY.md.`));
      return EXIT.config;
  }
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
      coverage: coverageOf(report.tools),
      outcome: outcomeOf(report),
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
    printable(name),
    ...HINTS.map((hint) => cell(verdicts[hint])),
    `${coverage.successfulCalls}/${coverage.calls}`,
  ]);
  print(layoutTable(head, rows, { width: WIDTH, head: (line) => style.dim(line) }));
  for (const { tool, hint, evidence, accepted } of contradictionsOf(report)) {
    const note = accepted === undefined ? '' : ` (accepted: ${printable(accepted)})`;
    print(
      `\n${style.red('CONTRADICTED')} ${printable(tool.name)}: ${hint} is ${String(tool.declared[hint])}${note}`,
    );
    for (const { says, call, args, atMs } of evidence)
      print(
        `  ${new Date(atMs).toISOString()} call ${call} ${printable(JSON.stringify(args))}\n    ${printable(says)}`,
      );
  }
  printNotes(report);
  printTotals(report);
}

/** Short enough for six columns in 80. */
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
      ...signals.map(signalText),
    ];
    if (lines.length > 0)
      print(`\n${printable(name)}\n${lines.map((line) => `  ${printable(line)}`).join('\n')}`);
  }
  for (const { tool, hint } of stale)
    printError(
      printable(`warning: the baseline accepts ${hint} of ${tool}, which this run did not contradict`),
    );
}

function printTotals(report: VerifyReport): void {
  const { tools, toolsWithSuccess, calls, shapes } = coverageOf(report.tools);
  const open = contradictionsOf(report).filter(({ accepted }) => accepted === undefined).length;
  print(
    `\n${counted(open, 'contradiction')}. ${toolsWithSuccess} of ${counted(tools, 'tool')} made a successful call; ${counted(calls, 'call')}, ${counted(shapes, 'shape')} of arguments, ${(report.tookMs / 1_000).toFixed(1)} s.`,
  );
  print(`Watched by ${report.mechanisms.join(', ')}.`);
  for (const { mechanism, why, install } of report.missing)
    printError(printable(`warning: no ${mechanism}. ${why} ${install}`));
  const suggested = report.tools.filter(
    (tool) => HINTS.some((hint) => tool.verdicts[hint].kind === 'contradicted') && differs(tool),
  );
  if (suggested.length === 0) return;
  print('\nSuggested annotations:');
  for (const tool of suggested)
    print(`  ${printable(tool.name)}: ${jsonText(suggestAnnotations(tool)).replaceAll(/\s+/g, ' ')}`);
}
