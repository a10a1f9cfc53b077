// Tools that show data, and what they show.
import { pause } from '@assay-mcp/kit/platform/pause';
import type { ArgumentSet } from '../arguments/choose-arguments.ts';
import {
  type AnswerLine,
  compareLines,
  showsUse,
  isDifferent,
  readAnswerLines,
} from '../judge/answer-lines.ts';
import { isSuccess } from '../judge/trial.ts';
import type { SetupCall } from './explore-tools.ts';
import type { CalledServer, ServerRun } from './run-tool.ts';

/** A tool with the arguments with which it is called. */
export interface CallableTool {
  readonly name: string;
  readonly isReadOnly: boolean;
  /** Whether it changes something, and says that repeating a call changes nothing more. */
  readonly isIdempotent: boolean;
  /** Whether it changes something, and says that it only adds. */
  readonly isAdditive: boolean;
  readonly sets: readonly ArgumentSet[];
  /** Other arguments, such as each value of an enumeration. */
  readonly variants: readonly ArgumentSet[];
  /** Calls that precede it. */
  readonly setup: readonly SetupCall[];
}

/** What a tool showed. */
export interface View {
  readonly lines: readonly AnswerLine[];
  /** Whether its numbers stayed the same while nothing was called. */
  readonly hasStableNumbers: boolean;
}

/** By the names of tools. */
export type Views = ReadonlyMap<string, View>;

export interface ServerContext {
  readonly server: CalledServer;
  readonly run: ServerRun;
  readonly views: readonly CallableTool[];
  /** Puts values of this server into arguments. */
  readonly replace: (set: ArgumentSet) => ArgumentSet;
}

/** Identical calls of the tools that show data, before the tool in question is called. */
const ROUNDS = 3;
/** Names of tools that show data. Another one that says that it only reads could itself change what these show. */
const SHOWS =
  /^(?:.*[_.\s-])?(?:list|get|show|read|find|search|view|fetch|status|lister|afficher|voir|auflisten|anzeigen|zeigen?|listar|mostrar|ver)(?:$|[_.\s-]|[A-Z])/;

export function isView({ isReadOnly, name }: CallableTool): boolean {
  return isReadOnly && SHOWS.test(name) && !showsUse(name);
}

/** The answers of tools that answered the same several times. Names of the others are added to `unstable`. */
export async function readStableViews(
  views: readonly CallableTool[],
  context: ServerContext,
  unstable: Set<string>,
): Promise<Views> {
  const stable = new Map(await readViews(views, context));
  for (let round = 1; round < ROUNDS; round += 1) {
    await pause(context.run.pace.roundMs);
    const again = await readViews(views, context);
    for (const [view, former] of stable) {
      const now = again.get(view);
      const differs = (withAmounts: boolean): boolean =>
        now === undefined || isDifferent(compareLines(former.lines, now.lines, { withAmounts }));
      // What a first call puts into a cache is there from the second on.
      if (now !== undefined && round === 1) stable.set(view, { ...now, hasStableNumbers: !differs(true) });
      else if (now === undefined || differs(false)) {
        stable.delete(view);
        unstable.add(view);
      } else if (differs(true)) stable.set(view, { ...former, hasStableNumbers: false });
    }
  }
  return stable;
}

export async function readViews(views: readonly CallableTool[], context: ServerContext): Promise<Views> {
  const answers = new Map<string, View>();
  for (const { name, sets } of views) {
    const [first] = sets;
    if (first === undefined || context.server.hasEnded || context.run.signal.aborted) continue;
    const { result } = await callTool(name, first, context);
    const lines = readAnswerLines(result);
    if (lines !== undefined) answers.set(name, { lines, hasStableNumbers: true });
  }
  return answers;
}

/** Calls a tool once with each of the sets. Returns whether a call succeeded. */
export async function callOnce(
  { name }: CallableTool,
  sets: readonly ArgumentSet[],
  context: ServerContext,
): Promise<boolean> {
  let hasSucceeded = false;
  for (const set of sets)
    hasSucceeded = isSuccess((await callTool(name, set, context)).answer) || hasSucceeded;
  return hasSucceeded;
}

function callTool(
  name: string,
  set: ArgumentSet,
  { server, replace, run: { pace, signal } }: ServerContext,
): ReturnType<CalledServer['call']> {
  return server.call(name, replace(set).args, { limitMs: pace.callLimitMs, signal });
}
