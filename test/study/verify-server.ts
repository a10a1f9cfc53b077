import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sha256 } from '@assay-mcp/kit/digest';
import { HINTS } from '@assay-mcp/kit/hint';
import { shorten } from '@assay-mcp/kit/shorten';
import { computeCoverage, listContradictions, type VerifyReport } from '@assay-mcp/kit/verification/report';
import { ROOT } from '../support/paths.ts';
import { findNeeds } from './find-need.ts';
import { filesOf } from './fixture-files.ts';
import { type InstalledServer, installServer } from './install.ts';
import type { StudyContradiction, StudyRecord, StudyResult, StudyTool } from './record.ts';

const PROGRAM = join(ROOT, 'packages', 'verify', 'dist');
/** A contradiction counts if each of these saw it. */
const RUNS = 2;
const PACE = ['--sets', '2', '--repeats', '3', '--call-limit', '5', '--time-limit', '150'];
const RUN_LIMIT_MS = 240_000;
const MAX_FAILURE_LENGTH = 100;
const MAX_EVIDENCE_LENGTH = 240;
const run = promisify(execFile);

/** Digest of the verifier that is built now. A server whose result names another one is verified again. */
export function digestVerifier(): string {
  const files = readdirSync(PROGRAM)
    .filter((name) => name.endsWith('.js'))
    .sort()
    .map((name) => readFileSync(join(PROGRAM, name), 'utf8'));
  return sha256(files.join('\n')).slice(0, 12);
}

/** Verifies an installed copy of a server twice, without fixtures. Whether an author was told is kept. */
export async function verifyTwice(record: StudyRecord): Promise<StudyRecord> {
  const startedMs = Date.now();
  // Dependencies may be newer than at the screening.
  let { installation } = record;
  const [reports, failure] = await withInstalled(record, (installed) => {
    ({ installation } = installed);
    return repeat(record, installed);
  });
  const tools = toTools(reports);
  const seen = reports.map(
    (report) => new Set(listContradictions(report).map(({ tool, hint }) => `${tool.name} ${hint}`)),
  );
  const all = new Set(seen.flatMap((one) => [...one]));
  const contradictions = toContradictions(reports[0]).filter(({ tool, hint }) =>
    seen.every((one) => one.has(`${tool} ${hint}`)),
  );
  const result: StudyResult = {
    verifier: digestVerifier(),
    verifiedOn: new Date().toISOString().slice(0, 10),
    runs: reports.length,
    ...(failure !== undefined && { failure: shorten(failure, MAX_EVIDENCE_LENGTH) }),
    tookMs: Date.now() - startedMs,
    tools,
    contradictions: reports.length < RUNS ? [] : contradictions,
    ...(all.size > contradictions.length && { unconfirmed: all.size - contradictions.length }),
    reportedToAuthor: record.result?.reportedToAuthor ?? null,
  };
  return { ...record, installation, mechanisms: reports[0]?.mechanisms ?? record.mechanisms, result };
}

/** Verifies a server once with the arguments of its fixtures. Undefined if there is no report. */
export async function verifyWithFixtures(record: StudyRecord): Promise<StudyRecord | undefined> {
  const [[report]] = await withInstalled(record, async (installed) => {
    const files = filesOf(record.fixtures ?? '');
    try {
      return [[await verifyOnce(record, installed, files.options)], undefined] as const;
    } catch {
      return [[], undefined] as const;
    } finally {
      files.remove();
    }
  });
  if (report === undefined) return undefined;
  const { tools, toolsWithSuccess } = computeCoverage(report.tools);
  const verifiedOn = new Date().toISOString().slice(0, 10);
  return { ...record, withFixtures: { verifiedOn, tools, called: toolsWithSuccess } };
}

type Reports = readonly [reports: readonly VerifyReport[], failure: string | undefined];

async function withInstalled(
  { package: name, version, main, integrity }: StudyRecord,
  work: (installed: InstalledServer) => Promise<Reports>,
): Promise<Reports> {
  const installed = await installServer(name, version, main);
  if (!installed.ok) return [[], installed.error];
  try {
    if (installed.value.integrity !== integrity) return [[], 'the archive of this version changed'];
    return await work(installed.value);
  } finally {
    await installed.value.remove();
  }
}

async function repeat(record: StudyRecord, installed: InstalledServer): Promise<Reports> {
  const reports: VerifyReport[] = [];
  for (let at = 0; at < RUNS; at += 1) {
    try {
      reports.push(await verifyOnce(record, installed, []));
    } catch (error) {
      return [reports, error instanceof Error ? error.message : String(error)];
    }
  }
  return [reports, undefined];
}

async function verifyOnce(
  { args, env = {} }: StudyRecord,
  { folder, program }: InstalledServer,
  options: readonly string[],
): Promise<VerifyReport> {
  const pairs = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  const command = [
    ...[join(PROGRAM, 'main.js'), '--json', ...PACE, ...options],
    // With it, the report has the answers to all attempts.
    ...['--write-fixtures', join(folder, 'assay-verify-found.json')],
    ...(pairs.length === 0 ? [] : ['--env', ...pairs]),
    ...['--', process.execPath, program, ...args],
  ];
  const limits = { timeout: RUN_LIMIT_MS, killSignal: 'SIGTERM', maxBuffer: 256 * 1024 * 1024 } as const;
  const done = await run(process.execPath, command, { cwd: folder, ...limits }).catch(
    (error: unknown) => error as { readonly stdout?: string; readonly stderr?: string },
  );
  // A contradiction or no successful call ends it with an exit code that is not 0.
  const { stdout = '', stderr = '' } = done;
  if (!stdout.startsWith('{')) throw new Error(stderr.trim() === '' ? 'it took too long' : stderr.trim());
  return JSON.parse(stdout) as VerifyReport;
}

function toTools(reports: readonly VerifyReport[]): readonly StudyTool[] {
  const [first, ...others] = reports;
  const needs = reports.map(({ tools }) => findNeeds(tools));
  return (first?.tools ?? []).map((tool) => {
    const same = [tool, ...others.flatMap(({ tools }) => tools.filter(({ name }) => name === tool.name))];
    const calls = same.reduce((sum, { coverage }) => sum + coverage.successfulCalls, 0);
    const always = (kind: 'consistent' | 'contradicted') =>
      same.length < RUNS
        ? []
        : HINTS.filter((hint) => same.every(({ verdicts }) => verdicts[hint].kind === kind));
    const need = needs.map((one) => one.get(tool.name)).find((one) => one !== undefined);
    const [consistent, contradicted] = [always('consistent'), always('contradicted')];
    return {
      ...{ name: tool.name, digest: tool.digest, declared: tool.declared, calls },
      ...(consistent.length > 0 && { consistent }),
      ...(contradicted.length > 0 && { contradicted }),
      ...(calls === 0 && need !== undefined && { needs: need }),
      ...(same.some(({ signals }) =>
        signals.some((one) => one.kind === 'in_process_state' && !one.isJudged),
      ) && {
        keepsState: true as const,
      }),
      ...(calls === 0 && { failure: shorten(toLine(tool.failure ?? 'not called'), MAX_FAILURE_LENGTH) }),
    };
  });
}

function toContradictions(report: VerifyReport | undefined): readonly StudyContradiction[] {
  return (report === undefined ? [] : listContradictions(report)).flatMap(
    ({ tool, hint, evidence: [first] }) =>
      first === undefined
        ? []
        : [
            {
              ...{ tool: tool.name, hint, effect: first.effect },
              message: shorten(toLine(first.message), MAX_EVIDENCE_LENGTH),
              args: shorten(JSON.stringify(first.args), MAX_EVIDENCE_LENGTH),
            },
          ],
  );
}

function toLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
