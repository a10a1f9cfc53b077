import process from 'node:process';
import { join, resolve } from 'node:path';
import { formatCount } from '@assay-mcp/kit/counted';
import { toPrintable } from '@assay-mcp/kit/printable';
import {
  computeReportOutcome,
  listContradictions,
  splitObserved,
  type VerifyReport,
} from '@assay-mcp/kit/verification/report';
import { type VerifyFault, formatVerifyFault } from '@assay-mcp/kit/verification/verify-fault';
import type {
  VerifierProgram,
  VerifyOptions,
  WantedVerification,
} from '@assay-mcp/kit/verification/verifier';
import { isThere, writeAtomically } from '@assay-mcp/kit/platform/files';
import { waitForStop } from '@assay-mcp/kit/platform/stop-signals';
import { print, printError } from '@assay-mcp/kit/platform/terminal/print';
import { withProgress } from '@assay-mcp/kit/platform/terminal/progress';
import { PLACEHOLDER_REASON, updateBaseline } from './baseline.ts';
import { FIXTURES_FILE } from './fixtures.ts';
import { planReports, writeAllReports } from './report/reports.ts';
import { draftFromReport, openVerifier, type VerifyRequest } from './verifier.ts';

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
  if (options.updateBaseline === true && options.baseline === undefined)
    return printFault(program, {
      code: 'ARGUMENTS_INVALID',
      reason: '--update-baseline: name the file with --baseline',
    });
  const reports = planReports(options);
  if (!reports.ok) return printFault(program, reports.error);
  const own = join(target.cwd, FIXTURES_FILE);
  const given = options.fixtures === undefined ? undefined : resolve(options.fixtures);
  const isInit = options.init === true;
  const stopping = new AbortController();
  void waitForStop().then(() => stopping.abort());
  const request = {
    ...{ ...target, ownEnv: process.env, recorded },
    fixtures: isInit ? undefined : (given ?? (isThere(own) ? own : undefined)),
    baseline: baselineOf(options),
    tools: options.tool ?? [],
    explain: options.writeFixtures === undefined ? (options.explain ?? []) : ('all' as const),
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
  const written = await writeAllReports(verified.value, reports.value, options, target.cwd);
  if (!written.ok) return printFault(program, written.error);
  const { writeFixtures: draftFile } = options;
  if (draftFile !== undefined) {
    const exitCode = await writeDraft(program, resolve(draftFile), draftFromReport(verified.value));
    if (exitCode !== undefined) return exitCode;
  }
  // An interrupted run says nothing about the remaining tools, so it is not kept.
  const keepFailure = stopping.signal.aborted ? undefined : await keep?.(verified.value);
  if (keepFailure !== undefined) return keepFailure;
  if (stopping.signal.aborted || options.updateBaseline !== true)
    return exitOf(program, verified.value, options);
  return replaceBaseline(program, verified.value, options);
};

/** The path of the baseline to read. */
function baselineOf({ baseline, updateBaseline }: VerifyOptions): string | undefined {
  if (baseline === undefined) return undefined;
  const path = resolve(baseline);
  return updateBaseline === true && !isThere(path) ? undefined : path;
}

/** Accepts all contradictions of the run. Resolves with the exit code. */
async function replaceBaseline(
  program: Program,
  report: VerifyReport,
  options: VerifyOptions,
): Promise<number> {
  const file = resolve(options.baseline ?? '');
  const text = updateBaseline(report);
  const written = await writeAtomically(file, text, FILE_MODE);
  if (!written.ok)
    return printFault(program, { code: 'FILE_UNWRITABLE', file, problem: written.error.reason });
  printError(toPrintable(`Wrote ${file}. Replace the reasons that begin with "${PLACEHOLDER_REASON}".`));
  const open = listContradictions(report).flatMap(({ tool, hint, accepted }) =>
    accepted === undefined ? [{ tool: tool.name, hint, reason: PLACEHOLDER_REASON }] : [],
  );
  return exitOf(program, { ...report, accepted: [...report.accepted, ...open] }, options);
}

/** The exit code, after saying which tools were not observed although `--require-observed` asks for it. */
function exitOf(program: Program, report: VerifyReport, { requireObserved }: VerifyOptions): number {
  const outcome = computeReportOutcome(report);
  if (requireObserved === undefined || outcome === 'contradicted') return EXITS[outcome];
  const { wanted, unobserved } = splitObserved(report.tools);
  const isEnough = wanted.length - unobserved.length >= wanted.length * Number(requireObserved);
  if (isEnough) return EXITS[outcome];
  const names = unobserved.map(({ name }) => name).join(', ');
  printError(
    toPrintable(
      `${program}: ${unobserved.length} of ${formatCount(wanted.length, 'tool')} made no successful call: ${names}. Give them arguments in ${FIXTURES_FILE}, or a reason to skip them.`,
    ),
  );
  return EXITS.unobserved;
}

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
  const unwritten = await writeDraft(program, file, drafted.value);
  if (unwritten !== undefined) return unwritten;
  print(
    `Wrote ${toPrintable(file)}. Replace generated arguments by real ones, and give tools that must not run a "skip" reason.`,
  );
  return 0;
}

/** Writes a new fixtures file; resolves with an exit code if it cannot be written. */
async function writeDraft(program: Program, file: string, text: string): Promise<number | undefined> {
  if (isThere(file)) {
    const reason = `${file} exists; name another file`;
    return printFault(program, { code: 'ARGUMENTS_INVALID', reason });
  }
  const written = await writeAtomically(file, text, FILE_MODE);
  if (written.ok) return undefined;
  return printFault(program, { code: 'FILE_UNWRITABLE', file, problem: written.error.reason });
}

const FAULT_EXITS: Readonly<Record<VerifyFault['code'], number>> = {
  SERVER_FAILED: 4,
  PACKAGE_NOT_FETCHED: 4,
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
