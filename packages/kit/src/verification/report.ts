import { type Hint, HINTS } from '../hint.ts';
import type { Evidence, ToolReport } from './verdict.ts';

/** One run of `assay verify`. */
export interface VerifyReport {
  readonly server: ServerFacts;
  readonly startedMs: number;
  readonly tookMs: number;
  /** The mechanisms that observed the server. A verdict covers only what they can observe. */
  readonly mechanisms: readonly string[];
  readonly missing: readonly MissingFact[];
  /** Tools that were not verified, as official clients reject their definitions. Absent if there are none. */
  readonly withheld?: readonly WithheldTool[];
  /** The package that the command of the server names, if it was fetched. */
  readonly fetched?: FetchedPackage;
  /** Hosts that the server asked for without a call, all refused. Absent if there are none. */
  readonly hosts?: readonly string[];
  readonly tools: readonly ToolReport[];
  /** Contradictions that the baseline accepts. */
  readonly accepted: readonly AcceptedFinding[];
  /** Entries of the baseline that no contradiction matches. */
  readonly stale: readonly AcceptedFinding[];
}

/** A package that was fetched for the run. */
export interface FetchedPackage {
  readonly name: string;
  readonly version: string;
  /** Of its tarball, as the registry says; empty if it does not. */
  readonly integrity: string;
  /** Host and port of the registry. */
  readonly registry: string;
  /** Packages whose scripts of installation were not run. */
  readonly skippedScripts: readonly string[];
}

export interface WithheldTool {
  readonly name: string;
  /** The end of a sentence. */
  readonly reason: string;
}

export interface ServerFacts {
  /** As the server reports it. */
  readonly name: string;
  readonly version: string;
  readonly command: readonly string[];
  /** Digest of the program's files that the command names. */
  readonly packageDigest: string;
}

export interface MissingFact {
  readonly mechanism: string;
  readonly why: string;
  readonly install: string;
}

export interface AcceptedFinding {
  readonly tool: string;
  readonly hint: Hint;
  readonly reason: string;
}

/** Totals that are reported with every verdict. */
export interface Coverage {
  readonly tools: number;
  readonly toolsWithSuccess: number;
  readonly calls: number;
  readonly shapes: number;
}

export function computeCoverage(tools: readonly ToolReport[]): Coverage {
  const sum = (of: (tool: ToolReport) => number): number => tools.reduce((all, tool) => all + of(tool), 0);
  return {
    tools: tools.length,
    toolsWithSuccess: tools.filter(({ coverage }) => coverage.successfulCalls > 0).length,
    calls: sum(({ coverage }) => coverage.calls),
    shapes: sum(({ coverage }) => coverage.shapes),
  };
}

/** A contradicted hint of one tool. */
export interface Contradiction {
  readonly tool: ToolReport;
  readonly hint: Hint;
  readonly evidence: readonly Evidence[];
  /** Why the baseline accepts it. */
  readonly accepted: string | undefined;
}

export function listContradictions({ tools, accepted }: VerifyReport): readonly Contradiction[] {
  return tools.flatMap((tool) =>
    HINTS.flatMap((hint) => {
      const verdict = tool.verdicts[hint];
      if (verdict.kind !== 'contradicted') return [];
      const entry = accepted.find((one) => one.tool === tool.name && one.hint === hint);
      return [{ tool, hint, evidence: verdict.evidence, accepted: entry?.reason }];
    }),
  );
}

/** Contradictions of tools by one and the same file, address or host. */
export interface CauseGroup {
  readonly cause: string;
  /** All of them are accepted, or none is. */
  readonly found: readonly [Contradiction, ...Contradiction[]];
  /** What happened, without repetitions. */
  readonly messages: readonly string[];
}

/** The contradictions, those with the same first effect together. */
export function groupByCause(report: VerifyReport): readonly CauseGroup[] {
  const groups = Map.groupBy(listContradictions(report), ({ evidence, accepted, tool, hint }) =>
    JSON.stringify([evidence[0]?.target ?? `${tool.name} ${hint}`, accepted !== undefined]),
  );
  return [...groups].flatMap(([key, [first, ...more]]) => {
    if (first === undefined) return [];
    const [cause] = JSON.parse(key) as [string, boolean]; // as above
    const all = [first, ...more].flatMap(({ evidence }) => evidence.slice(0, 1));
    return [{ cause, found: [first, ...more], messages: [...new Set(all.map(({ message }) => message))] }];
  });
}

/** The tools that the fixtures file does not skip, and those of them that made no successful call. */
export function splitObserved(tools: readonly ToolReport[]): {
  readonly wanted: readonly ToolReport[];
  readonly unobserved: readonly ToolReport[];
} {
  const wanted = tools.filter(
    ({ verdicts: { readOnlyHint } }) =>
      readOnlyHint.kind !== 'unobserved' || readOnlyHint.reason !== 'skipped',
  );
  return { wanted, unobserved: wanted.filter(({ coverage }) => coverage.successfulCalls === 0) };
}

/**
 * `contradicted`: at least one contradiction that the baseline does not accept. `unobserved`: no tool made a successful
 * call, so nothing can be said.
 */
export function computeReportOutcome(report: VerifyReport): 'contradicted' | 'unobserved' | 'consistent' {
  if (listContradictions(report).some(({ accepted }) => accepted === undefined)) return 'contradicted';
  return computeCoverage(report.tools).toolsWithSuccess === 0 ? 'unobserved' : 'consistent';
}
