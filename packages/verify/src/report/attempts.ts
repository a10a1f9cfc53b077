import { serializeCanonical } from '@assay-mcp/kit/canonical-json';
import type { ToolAttempt } from '@assay-mcp/kit/verification/verdict';
import type { ExploredTool } from '../experiment/explore-tools.ts';
import { isSuccess, type Trial } from '../judge/trial.ts';

const MAX_ATTEMPTS = 100;
const MAX_ANSWER = 300;

/** What was tried with a tool: first to find arguments, then to observe its effects. Equal arguments count once. */
export function listAttempts(
  explored: ExploredTool | undefined,
  trials: readonly Trial[],
): readonly ToolAttempt[] {
  const attempts = new Map<string, ToolAttempt>();
  const after = [...new Set((explored?.setups[0] ?? []).map(({ tool }) => tool))];
  const tried = [
    ...(explored?.attempts ?? []).map(({ args, answer }) => ({ args, answers: [answer] })),
    ...trials.map(({ args, calls }) => ({ args, answers: calls.map(({ answer }) => answer) })),
  ];
  for (const { args, answers } of tried) {
    const key = serializeCanonical(args);
    const former = attempts.get(key);
    const first = answers[0];
    if (first === undefined || (former === undefined && attempts.size >= MAX_ATTEMPTS)) continue;
    const answer = former?.answer ?? first.text.slice(0, MAX_ANSWER);
    attempts.set(key, {
      ...{ args, after, answer },
      calls: (former?.calls ?? 0) + answers.length,
      isSuccess: (former?.isSuccess ?? false) || answers.some(isSuccess),
    });
  }
  return [...attempts.values()];
}
