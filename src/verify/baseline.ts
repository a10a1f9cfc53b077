import { HINTS } from '../core/hints/hint.ts';
import { isJsonObject } from '../core/json-object.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { AcceptedFinding } from '../core/verification/report.ts';
import type { ToolReport } from '../core/verification/verdict.ts';
import type { FileFault } from './fixtures.ts';

/** Reads `{ "accepted": [{ "tool", "hint", "reason" }] }`. BASELINE_INVALID */
export function readBaseline(text: string): Result<readonly AcceptedFinding[], FileFault> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return fault('', `is not JSON: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
  const list = isJsonObject(value) ? value['accepted'] : undefined;
  if (!Array.isArray(list)) return fault('accepted', 'must be a list of { "tool", "hint", "reason" }');
  const accepted: AcceptedFinding[] = [];
  for (const [at, entry] of list.entries()) {
    const { tool, hint: name, reason } = isJsonObject(entry) ? entry : {};
    const hint = HINTS.find((one) => one === name);
    if (typeof tool !== 'string') return fault(`accepted[${at}].tool`, 'must be the name of a tool');
    if (hint === undefined) return fault(`accepted[${at}].hint`, `must be one of ${HINTS.join(', ')}`);
    if (typeof reason !== 'string' || reason.trim() === '')
      return fault(`accepted[${at}].reason`, 'must say why the contradiction is accepted');
    accepted.push({ tool, hint, reason });
  }
  return ok(accepted);
}

function fault(field: string, problem: string): { readonly ok: false; readonly error: FileFault } {
  return err({ code: 'BASELINE_INVALID', field, problem });
}

/** Splits the baseline into entries that accept a contradiction of this run, and entries that no longer do. */
export function applyBaseline(
  baseline: readonly AcceptedFinding[],
  tools: readonly ToolReport[],
): { readonly accepted: readonly AcceptedFinding[]; readonly stale: readonly AcceptedFinding[] } {
  const isContradicted = ({ tool, hint }: AcceptedFinding): boolean =>
    tools.some(({ name, verdicts }) => name === tool && verdicts[hint].kind === 'contradicted');
  return {
    accepted: baseline.filter(isContradicted),
    stale: baseline.filter((entry) => !isContradicted(entry)),
  };
}
