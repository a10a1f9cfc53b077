import type { Evidence } from '@assay-mcp/kit/verification/verdict';
import { shorten } from '@assay-mcp/kit/shorten';
import { pause } from '@assay-mcp/kit/platform/pause';
import { runConcurrently } from '@assay-mcp/kit/run-concurrently';
import type { ArgumentSet } from '../arguments/choose-arguments.ts';
import {
  type AnswerLines,
  compareLines,
  isAboutUse,
  isDifferent,
  type LineDifference,
  readAnswerLines,
} from '../judge/answer-lines.ts';
import { isSuccess } from '../judge/trial.ts';
import type { CalledServer, ServerRun } from './run-tool.ts';

/** A tool with the arguments with which it is called. */
export interface CallableTool {
  readonly name: string;
  readonly isReadOnly: boolean;
  readonly sets: readonly ArgumentSet[];
}

const MAX_VIEWS = 8;
const MAX_FILLED = 5;
/** Identical calls of the tools that show data, before the tool in question is called. */
const ROUNDS = 3;
/** A change must recur in as many new servers. */
const REPEATS = 2;
/** Tools that are called again in new servers at the same time. */
const MAX_CONFIRMING = 4;
/** Names of tools that show data. Another one that says that it only reads could itself change what these show. */
const SHOWS = /^(?:.*[_.\s-])?(?:list|get|show|read|find|search|view|fetch)(?:$|[_.\s-]|[A-Z])/;
const CREATES = /(?:^|[_.\s-])(?:add|append|create|insert|new|put|register|remember|save|set|store|write)/i;

/**
 * Finds tools that say that they only read, and after whose calls the other tools of the same server show different data,
 * which may exist only in its memory. First all tools are called in one server. A tool that seems to change something is
 * called again in new servers. Data that differ there while it is not called change by themselves, and do not count.
 * Neither do numbers, what describes the use of a server, and what appears where nothing was and stays the same when the
 * tool is called again.
 */
export async function findMemoryChanges(
  tools: readonly CallableTool[],
  run: ServerRun,
): Promise<ReadonlyMap<string, readonly Evidence[]>> {
  const found = new Map<string, readonly Evidence[]>();
  const callable = tools.filter(({ sets }) => sets.length > 0);
  const views = callable.filter(isView).slice(0, MAX_VIEWS);
  const tested = callable.filter(
    ({ isReadOnly, name }) => isReadOnly && views.some((one) => one.name !== name),
  );
  if (tested.length === 0) return found;
  const setting = { fill: callable.filter(isCreating).slice(0, MAX_FILLED), views, run };
  const suspects = await inServer(setting, async (probe) => {
    const seen: CallableTool[] = [];
    for (const tool of tested)
      if ((await probe(tool, { isCalled: true, unstable: new Set() })) !== undefined) seen.push(tool);
    return seen;
  });
  await runConcurrently(suspects ?? [], MAX_CONFIRMING, async (tool) => {
    const evidence = await confirmChange(tool, setting);
    if (evidence !== undefined) found.set(tool.name, evidence);
  });
  return found;
}

function isView({ isReadOnly, name }: CallableTool): boolean {
  return isReadOnly && SHOWS.test(name) && !isAboutUse(name);
}

function isCreating({ isReadOnly, name }: CallableTool): boolean {
  return !isReadOnly && CREATES.test(name);
}

interface ProbeSetting {
  readonly fill: readonly CallableTool[];
  readonly views: readonly CallableTool[];
  readonly run: ServerRun;
}

interface ViewChange {
  readonly view: string;
  readonly difference: LineDifference;
}

interface ProbeOptions {
  /** Otherwise as much time passes without a call. */
  readonly isCalled: boolean;
  /** Names of views that changed by themselves; those found are added. */
  readonly unstable: Set<string>;
}

/** Calls a tool, and returns what the others then show differently. */
type Probe = (tool: CallableTool, options: ProbeOptions) => Promise<ViewChange | undefined>;

/** Undefined if the change does not recur, or also happens without the call. */
async function confirmChange(
  tool: CallableTool,
  setting: ProbeSetting,
): Promise<readonly Evidence[] | undefined> {
  const unstable = new Set<string>();
  let seen: ViewChange | undefined;
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const before = seen;
    seen = await inServer(setting, async (probe) => {
      // What happens some time after the start of a server would recur too, so each repeat waits longer than the last.
      for (let wait = 0; wait <= repeat; wait += 1) await probe(tool, { isCalled: false, unstable });
      const change = await probe(tool, { isCalled: true, unstable });
      if (change !== undefined) await probe(tool, { isCalled: false, unstable });
      return change;
    });
    if (seen === undefined || (before !== undefined && before.view !== seen.view)) return undefined;
  }
  const [first] = tool.sets;
  if (seen === undefined || unstable.has(seen.view) || first === undefined) return undefined;
  const { view, difference } = seen;
  const message = `changed what "${view}" returns: ${formatDifference(difference)}`;
  return [{ effect: 'memory', message, call: 1, args: first.args, atMs: Date.now(), target: view }];
}

function formatDifference({ gone, added }: LineDifference): string {
  const texts = [
    ...(gone[0] === undefined ? [] : [`no longer ${JSON.stringify(shorten(gone[0], 100))}`]),
    ...(added[0] === undefined ? [] : [`now ${JSON.stringify(shorten(added[0], 100))}`]),
  ];
  return texts.join(', ');
}

/** Undefined if the server does not start. */
async function inServer<T>(
  { fill, views, run }: ProbeSetting,
  work: (probe: Probe) => Promise<T>,
): Promise<T | undefined> {
  if (run.signal.aborted) return undefined;
  const opened = await run.openServer();
  if (!opened.ok) return undefined;
  const server = opened.value;
  try {
    await pause(run.pace.startMs);
    for (const { name, sets } of fill)
      for (const { args } of sets.slice(0, 2)) await callTool(server, run, { name, args });
    return await work((tool, options) => probeWith(tool, { ...options, server, views, run }));
  } finally {
    await server.close();
  }
}

interface ProbeContext extends Omit<ProbeSetting, 'fill'>, ProbeOptions {
  readonly server: CalledServer;
}

async function probeWith(tool: CallableTool, context: ProbeContext): Promise<ViewChange | undefined> {
  const { server, run, isCalled, unstable } = context;
  const others = context.views.filter(({ name }) => name !== tool.name && !unstable.has(name));
  const before = await readStableViews(others, context);
  const call = async (): Promise<boolean> => {
    const answers = [];
    for (const { args } of tool.sets.slice(0, 2))
      answers.push(await callTool(server, run, { name: tool.name, args }));
    return answers.some(({ answer }) => isSuccess(answer));
  };
  if (!isCalled) await pause(run.pace.roundMs);
  else if (!(await call())) return undefined;
  await pause(run.pace.roundMs);
  const after = await readViews(others, context);
  const seen = firstDifference(before, after);
  if (seen !== undefined && !isCalled) unstable.add(seen.view);
  if (seen === undefined || !isCalled || before.get(seen.view)?.size !== 0) return seen;
  // Data may have been loaded at its first use: calling the tool again then changes nothing.
  await call();
  await pause(run.pace.roundMs);
  return firstDifference(after, await readViews(others, context), before);
}

/** The answers of tools that answered the same several times. */
async function readStableViews(
  views: readonly CallableTool[],
  context: ProbeContext,
): Promise<ReadonlyMap<string, AnswerLines>> {
  const stable = new Map(await readViews(views, context));
  for (let round = 1; round < ROUNDS; round += 1) {
    await pause(context.run.pace.roundMs);
    const again = await readViews(views, context);
    for (const [view, lines] of stable) {
      const now = again.get(view);
      // What a first call puts into a cache is there from the second on.
      if (now !== undefined && round === 1) stable.set(view, now);
      else if (now === undefined || isDifferent(compareLines(lines, now))) {
        stable.delete(view);
        context.unstable.add(view);
      }
    }
  }
  return stable;
}

async function readViews(
  views: readonly CallableTool[],
  { server, run }: ProbeContext,
): Promise<ReadonlyMap<string, AnswerLines>> {
  const answers = new Map<string, AnswerLines>();
  for (const { name, sets } of views) {
    const [first] = sets;
    if (first === undefined || server.hasEnded || run.signal.aborted) continue;
    const { result } = await callTool(server, run, { name, args: first.args });
    const lines = readAnswerLines(result);
    if (lines !== undefined) answers.set(name, lines);
  }
  return answers;
}

/** `known`: only tools with an answer there are compared. */
function firstDifference(
  before: ReadonlyMap<string, AnswerLines>,
  after: ReadonlyMap<string, AnswerLines>,
  known: ReadonlyMap<string, AnswerLines> = before,
): ViewChange | undefined {
  for (const [view, lines] of before) {
    const now = after.get(view);
    if (now === undefined || !known.has(view)) continue;
    const difference = compareLines(lines, now);
    if (isDifferent(difference)) return { view, difference };
  }
  return undefined;
}

function callTool(
  server: CalledServer,
  { pace, signal }: ServerRun,
  { name, args }: { readonly name: string; readonly args: ArgumentSet['args'] },
): ReturnType<CalledServer['call']> {
  return server.call(name, args, { limitMs: pace.callLimitMs, signal });
}
