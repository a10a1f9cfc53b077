import { getExitCode } from '../../core/errors.ts';
import { toField } from '@assay-mcp/kit/json-position';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Refusal } from '../../core/refusal.ts';
import { formatRefusal } from '../../core/sentences.ts';
import type { Tool } from '../../api/tool.ts';
import type { CodedProblem } from '../../api/problem.ts';
import { printError, style } from '@assay-mcp/kit/platform/terminal/print';

/** Prints a refusal to stderr and returns its exit code. */
export function printRefusal(refusal: Refusal): number {
  printError(`assay: ${formatRefusal(refusal)}`);
  return getExitCode(refusal);
}

/** Prints a refused request, or a refusal of the command itself, and returns its exit code. */
export function printFailure(failure: CodedProblem | Refusal): number {
  return 'detail' in failure ? printProblem(failure) : printRefusal(failure);
}

/** Prints a refused request to stderr, like the refusal of a local command, and returns its exit code. */
function printProblem({ code, detail, errors = [] }: CodedProblem): number {
  const lines = errors.map(
    (one) => `${toPrintable(toField(one.pointer ?? '') || (one.parameter ?? ''))}: ${one.detail}`,
  );
  // The user of a command gave arguments and knows of no body.
  const [first, ...more] = code === 'BODY_INVALID' && lines.length > 0 ? lines : [detail, ...lines.slice(1)];
  printError(`assay: ${first ?? ''}`);
  for (const line of more) printError(`  ${line}`);
  return getExitCode({ code });
}

/** For example "read-only (inferred: GET request)". */
export function formatHints({ hints }: Pick<Tool, 'hints'>): string {
  const { readOnlyHint, destructiveHint, idempotentHint } = hints;
  const deciding = readOnlyHint.effective ? readOnlyHint : destructiveHint;
  const risk = readOnlyHint.effective ? 'read-only' : destructiveHint.effective ? 'destructive' : 'writes';
  const more = !readOnlyHint.effective && idempotentHint.effective ? ', idempotent' : '';
  const [claim] = deciding.claims.filter(({ kind }) => kind === deciding.decidedBy);
  const why = claim?.reason === undefined ? deciding.decidedBy : `${deciding.decidedBy}: ${claim.reason}`;
  return `${risk}${more} (${why})`;
}

/** The places at which a definition changed. Never truncated: the part cut off might be the one that matters. */
export function formatChanges(changes: NonNullable<Tool['drift']>['changes']): readonly string[] {
  return changes.flatMap(({ path, before, after }) => [
    `  ${path === '' ? 'the whole' : toPrintable(path)}`,
    ...(before === undefined ? [] : [style.red(`    - ${toPrintable(before)}`)]),
    ...(after === undefined ? [] : [style.green(`    + ${toPrintable(after)}`)]),
  ]);
}
