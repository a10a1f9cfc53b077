import { type ArgumentSet, createSet } from '../arguments/choose-arguments.ts';
import { findValues } from '../arguments/knowledge.ts';
import { matchValues, replaceValues } from '../arguments/list-uses.ts';
import type { SetupCall } from './explore-tools.ts';
import type { SandboxedServer } from './sandboxed-server.ts';

/**
 * Makes the calls that precede those of a tool, such as one that creates what the tool reads. Resolves with a function that
 * puts the values of their results into arguments, in place of those of an earlier process.
 */
export async function prepareServer(
  server: Pick<SandboxedServer, 'call' | 'hasEnded'>,
  setup: readonly SetupCall[],
  { pace, signal }: { readonly pace: { readonly callLimitMs: number }; readonly signal: AbortSignal },
): Promise<(set: ArgumentSet) => ArgumentSet> {
  const replacements = new Map<string | number, string | number>();
  for (const { tool, args, values } of setup) {
    if (server.hasEnded || signal.aborted) break;
    const limits = { limitMs: pace.callLimitMs, signal };
    const { result } = await server.call(tool, replaceValues(args, replacements), limits);
    if (result !== undefined) matchValues(values, findValues(tool, result), replacements);
  }
  return (set) =>
    replacements.size === 0 ? set : createSet(replaceValues(set.args, replacements), set.origin);
}
