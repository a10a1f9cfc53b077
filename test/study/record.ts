import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EffectKind } from '@assay-mcp/kit/verification/verdict';
import type { Hint } from '@assay-mcp/kit/hint';
import { parseJson } from '../support/json.ts';

/** What the study knows about one version of a server: one file each. */
export interface StudyRecord {
  readonly package: string;
  readonly version: string;
  /** Of the package's archive, as the registry states it. */
  readonly integrity: string;
  /** Digest of the installed files of the package and of all packages that it depends on. */
  readonly installation: string;
  /** The program, relative to the folder of the package. */
  readonly main: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Its folder in `fixtures/`, whose arguments are written by hand. */
  readonly fixtures?: string;
  /** Digest of the names and the digests of all tools that it lists. */
  readonly definitions: string;
  readonly tools: number;
  /** Of the screening and of the runs. */
  readonly mechanisms: readonly string[];
  /** Day on which it was screened. */
  readonly screenedOn: string;
  /** Of the verifications without fixtures. Absent until then. */
  readonly result?: StudyResult;
  /** Of the last verification with arguments written by hand. */
  readonly withFixtures?: { readonly verifiedOn: string; readonly tools: number; readonly called: number };
}

export interface StudyResult {
  /** Digest of the verifier's program: a later one verifies again. */
  readonly verifier: string;
  /** Day of the last run. */
  readonly verifiedOn: string;
  /** Number of runs that ended with a report. A contradiction counts if each of them saw it. */
  readonly runs: number;
  /** Why a run ended without a report. */
  readonly failure?: string;
  readonly tookMs: number;
  /** Members are absent where they say nothing, since these files are many. */
  readonly tools: readonly StudyTool[];
  readonly contradictions: readonly StudyContradiction[];
  /** Contradictions that only some runs saw. */
  readonly unconfirmed?: number;
  /** Day on which the author was told of the contradictions. Until then the result is not published (docs/adr/0119). */
  readonly reportedToAuthor: string | null;
}

export interface StudyTool {
  readonly name: string;
  /** SHA-256 of the definition's canonical JSON. */
  readonly digest: string;
  readonly declared: Readonly<Partial<Record<Hint, boolean>>>;
  /** Number of successful calls in all runs together. */
  readonly calls: number;
  /** Hints that were CONSISTENT in every run, and those that were CONTRADICTED in every run. */
  readonly consistent?: readonly Hint[];
  readonly contradicted?: readonly Hint[];
  /** What it lacked, if no call succeeded. */
  readonly needs?: Need;
  /** Equal calls were answered differently until the process restarted. */
  readonly keepsState?: true;
  /** The beginning of the most frequent answer, if no call succeeded. */
  readonly failure?: string;
}

/**
 * `internet`: it tried to reach an address there; `service`: it tried to reach a port of this machine. The others go by
 * its answers: a key, an account or an address that is a setting; or a program on this machine (a browser, too). A tool
 * whose answers ask for another tool that lacks something lacks the same.
 */
export type Need = 'internet' | 'key' | 'program' | 'service';

export interface StudyContradiction {
  readonly tool: string;
  readonly hint: Hint;
  readonly effect: EffectKind;
  /** Such as `created /tmp/assay-verify/a.txt`. */
  readonly message: string;
  /** JSON text, or its start. */
  readonly args: string;
}

const FOLDER = join(import.meta.dirname, 'servers');
/** Not in the repository (.gitignore): whole records of servers whose authors were not told yet. */
const UNREPORTED = join(import.meta.dirname, 'unreported');

/** Such as `antv__mcp-server-chart`. */
export function nameRecord(packageName: string): string {
  return packageName.replace(/^@/, '').replace('/', '__');
}

export function isUnreported({ result }: StudyRecord): boolean {
  return result !== undefined && result.contradictions.length > 0 && result.reportedToAuthor === null;
}

/** The records of the repository, from which the pages are written. */
export function readPublished(): readonly StudyRecord[] {
  return readdirSync(FOLDER)
    .map((file) => readRecord(join(FOLDER, file)))
    .sort((a, b) => (a.package < b.package ? -1 : 1));
}

/** The same, with the results on this machine whose authors were not told yet. */
export function readRecords(): readonly StudyRecord[] {
  return readPublished().map((record) => {
    const unreported = join(UNREPORTED, nameFile(record));
    return existsSync(unreported) ? readRecord(unreported) : record;
  });
}

/** In the repository, an unreported record looks like one that was screened and not verified. */
export function writeRecord(record: StudyRecord): void {
  const [published, unreported] = [join(FOLDER, nameFile(record)), join(UNREPORTED, nameFile(record))];
  if (!isUnreported(record)) {
    writeFileSync(published, formatRecord(record));
    rmSync(unreported, { force: true });
    return;
  }
  const { result: _, ...screened } = existsSync(published) ? readRecord(published) : record;
  writeFileSync(published, formatRecord(screened));
  mkdirSync(UNREPORTED, { recursive: true });
  writeFileSync(unreported, formatRecord(record));
}

function nameFile(record: StudyRecord): string {
  return `${nameRecord(record.package)}.json`;
}

function readRecord(file: string): StudyRecord {
  return parseJson(readFileSync(file, 'utf8')) as unknown as StudyRecord;
}

function formatRecord(record: StudyRecord): string {
  const { result } = record;
  // One line for each tool: small, and a difference shows which tool.
  const { tools = [], ...rest } = result ?? {};
  const head = JSON.stringify({ ...record, result: undefined }, undefined, 1);
  const text =
    result === undefined
      ? head
      : `${head.slice(0, -2)},\n "result": ${JSON.stringify(rest).slice(0, -1)}, "tools": [\n${tools.map((tool) => JSON.stringify(tool)).join(',\n')}\n]}\n}`;
  return `${text}\n`;
}
