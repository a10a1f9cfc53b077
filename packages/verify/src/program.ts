import process from 'node:process';
import { extname, join, resolve } from 'node:path';
import { toPrintable } from '@assay-mcp/kit/printable';
import { computeCoverage, computeReportOutcome, type VerifyReport } from '@assay-mcp/kit/verification/report';
import { suggestAnnotations } from '@assay-mcp/kit/verification/suggest-annotations';
import { type VerifyFault, formatVerifyFault } from '@assay-mcp/kit/verification/verify-fault';
import type {
  VerifierProgram,
  VerifyFormat,
  VerifyOptions,
  WantedVerification,
} from '@assay-mcp/kit/verification/verifier';
import { VERSION } from '@assay-mcp/kit/version';
import { isThere, writeAtomically } from '@assay-mcp/kit/platform/files';
import { waitForStop } from '@assay-mcp/kit/platform/stop-signals';
import { formatJson, print, printError, printText } from '@assay-mcp/kit/platform/terminal/print';
import { withProgress } from '@assay-mcp/kit/platform/terminal/progress';
import { FIXTURES_FILE } from './fixtures.ts';
import { formatJunit } from './report/junit.ts';
import { formatMarkdown } from './report/markdown.ts';
import { formatSarif } from './report/sarif.ts';
import { printTable } from './report/table.ts';
import { openVerifier, type VerifyRequest } from './verifier.ts';

// What Assay loads of this package.

export { verifyInThread } from './verify-in-thread.ts';

type Program = WantedVerification['program'];

/** Exit codes: see docs/VERIFY.md. */
export const runVerification: VerifierProgram['runVerification'] = async (
  { target, keep, recorded = new Map(), program },
  options,
) => {
  if (options.repeats < 2)
    return printFault(program, { code: 'ARGUMENTS_INVALID', reason: '--repeats: it must be at least 2' });
  const unknown = options.report?.find((file) => FORMAT_BY_ENDING[extname(file)] === undefined);
  if (unknown !== undefined) {
    const reason = `--report: ${unknown} must end with ${Object.keys(FORMAT_BY_ENDING).join(', ')}`;
    return printFault(program, { code: 'ARGUMENTS_INVALID', reason });
  }
  const own = join(target.cwd, FIXTURES_FILE);
  const given = options.fixtures === undefined ? undefined : resolve(options.fixtures);
  const isInit = options.init === true;
  const stopping = new AbortController();
  void waitForStop().then(() => stopping.abort());
  const request = {
    ...{ ...target, ownEnv: process.env, recorded },
    fixtures: isInit ? undefined : (given ?? (isThere(own) ? own : undefined)),
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
  if (isInit) return writeFixtures(program, given ?? own, request);
  const verified = await withProgress('starting the server', ({ say }) =>
    openVerifier().verify({
      ...request,
      onProgress: ({ done, total, tool }) => say(`${formatBar(done, total)} ${tool}`),
    }),
  );
  if (!verified.ok) return printFault(program, verified.error);
  printReport(verified.value, options);
  const unwritten = await writeReports(program, options.report ?? [], verified.value);
  if (unwritten !== undefined) return unwritten;
  // An interrupted run says nothing about the remaining tools, so it is not kept.
  const keepFailure = stopping.signal.aborted ? undefined : await keep?.(verified.value);
  return keepFailure ?? EXITS[computeReportOutcome(verified.value)];
};

const EXITS = { consistent: 0, contradicted: 1, unobserved: 4 } as const;
const BAR_WIDTH = 20;

function formatBar(done: number, total: number): string {
  const full = Math.round((done / Math.max(total, 1)) * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}] ${done}/${total}`;
}

/** Only this user may read them: they may hold arguments of recorded calls. */
const FILE_MODE = 0o600;

async function writeFixtures(
  program: Program,
  file: string,
  request: Omit<VerifyRequest, 'onProgress'>,
): Promise<number> {
  const drafted = await openVerifier().draftFixtures({ ...request, onProgress: () => undefined });
  if (!drafted.ok) return printFault(program, drafted.error);
  if (isThere(file)) {
    const reason = `${file} exists; name another with --fixtures`;
    return printFault(program, { code: 'ARGUMENTS_INVALID', reason });
  }
  const written = await writeAtomically(file, drafted.value, FILE_MODE);
  if (!written.ok)
    return printFault(program, { code: 'FILE_UNWRITABLE', file, problem: written.error.reason });
  print(
    `Wrote ${toPrintable(file)}. Replace generated arguments by real ones, and give tools that must not run a "skip" reason.`,
  );
  return 0;
}

const FAULT_EXITS: Readonly<Record<VerifyFault['code'], number>> = {
  SERVER_FAILED: 4,
  SANDBOX_UNAVAILABLE: 4,
  ARGUMENTS_INVALID: 2,
  TOOL_UNKNOWN: 2,
  FILE_UNREADABLE: 3,
  FILE_UNWRITABLE: 3,
  FIXTURES_INVALID: 3,
  BASELINE_INVALID: 3,
};

/** Returns the exit code. */
export function printFault(program: Program, fault: VerifyFault): number {
  for (const line of formatVerifyFault(fault).split('\n')) printError(toPrintable(`${program}: ${line}`));
  return FAULT_EXITS[fault.code];
}

/** Texts of a report, beside the table. */
const FORMATS: Readonly<Record<Exclude<VerifyFormat, 'table'>, (report: VerifyReport) => string>> = {
  json: (report) =>
    formatJson({
      ...report,
      coverage: computeCoverage(report.tools),
      outcome: computeReportOutcome(report),
      suggestedAnnotations: Object.fromEntries(
        report.tools.map((tool) => [tool.name, suggestAnnotations(tool)]),
      ),
    }),
  sarif: (report) => formatSarif(report, VERSION).trimEnd(),
  junit: (report) => formatJunit(report).trimEnd(),
  markdown: (report) => formatMarkdown(report).trimEnd(),
};

const FORMAT_BY_ENDING: Readonly<Record<string, keyof typeof FORMATS>> = {
  '.json': 'json',
  '.sarif': 'sarif',
  '.xml': 'junit',
  '.md': 'markdown',
};

function printReport(report: VerifyReport, { json, format = 'table' }: VerifyOptions): void {
  const wanted = json === true ? 'json' : format;
  if (wanted === 'table') printTable(report);
  else printText(FORMATS[wanted](report));
}

/** Resolves with an exit code if a file cannot be written. */
async function writeReports(
  program: Program,
  files: readonly string[],
  report: VerifyReport,
): Promise<number | undefined> {
  for (const file of files) {
    const format = FORMAT_BY_ENDING[extname(file)];
    if (format === undefined) continue;
    const written = await writeAtomically(resolve(file), `${FORMATS[format](report)}\n`, FILE_MODE);
    if (!written.ok)
      return printFault(program, { code: 'FILE_UNWRITABLE', file, problem: written.error.reason });
  }
  return undefined;
}
