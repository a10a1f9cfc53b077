import { HINTS } from '@assay-mcp/kit/hint';
import { fitText, list, oneOf, openObject, text } from '@assay-mcp/kit/json-reader';
import { ok, type Result } from '@assay-mcp/kit/result';
import {
  listContradictions,
  type AcceptedFinding,
  type VerifyReport,
} from '@assay-mcp/kit/verification/report';
import type { ToolReport } from '@assay-mcp/kit/verification/verdict';
import { type FileFault, readJsonFile } from './read-json-file.ts';

const finding = openObject<AcceptedFinding>({
  tool: text,
  hint: oneOf(HINTS),
  reason: fitText((why) => (why.trim() === '' ? 'it must say why the contradiction is accepted' : undefined)),
});

const baseline = openObject<{ readonly accepted: readonly AcceptedFinding[] }>({ accepted: list(finding) });

/** Reads `{ "accepted": [{ "tool", "hint", "reason" }] }`. BASELINE_INVALID */
export function readBaseline(json: string): Result<readonly AcceptedFinding[], FileFault> {
  const read = readJsonFile(json, 'BASELINE_INVALID', baseline);
  return read.ok ? ok(read.value.accepted) : read;
}

/** Splits the baseline into entries that accept a contradiction of this run, and entries that no longer do. */
export function applyBaseline(
  entries: readonly AcceptedFinding[],
  tools: readonly ToolReport[],
): { readonly accepted: readonly AcceptedFinding[]; readonly stale: readonly AcceptedFinding[] } {
  const isContradicted = ({ tool, hint }: AcceptedFinding): boolean =>
    tools.some(({ name, verdicts }) => name === tool && verdicts[hint].kind === 'contradicted');
  return {
    accepted: entries.filter(isContradicted),
    stale: entries.filter((entry) => !isContradicted(entry)),
  };
}

/** Begins the reason of an entry that nobody has given a reason yet. */
export const PLACEHOLDER_REASON = 'accepted by --update-baseline';

/**
 * The text of a baseline that accepts each contradiction of this run. Reasons are kept, and so are entries that this
 * run did not test; those that it found to be consistent or undeclared are left out.
 */
export function updateBaseline(report: VerifyReport): string {
  const verdicts = new Map(report.tools.map(({ name, verdicts: own }) => [name, own]));
  const untested = report.stale.filter(({ tool, hint }) => {
    const verdict = verdicts.get(tool)?.[hint];
    return verdict === undefined || verdict.kind === 'unobserved';
  });
  const added = listContradictions(report).flatMap(({ tool, hint, evidence, accepted: reason }) =>
    reason === undefined
      ? [{ tool: tool.name, hint, reason: `${PLACEHOLDER_REASON}: ${evidence[0]?.message ?? ''}` }]
      : [],
  );
  const accepted = [...report.accepted, ...untested, ...added].map(({ tool, hint, reason }) => ({
    ...{ tool, hint, reason },
  }));
  return `${JSON.stringify({ accepted }, undefined, 2)}\n`;
}
