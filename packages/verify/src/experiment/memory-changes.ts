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
  /** Whether it changes something, and says that repeating a call changes nothing more. */
  readonly isIdempotent: boolean;
  readonly sets: readonly ArgumentSet[];
  /** Other arguments, such as each value of an enumeration. */
  readonly variants: readonly ArgumentSet[];
}

const MAX_VIEWS = 8;
const MAX_FILLED = 5;
/** Identical calls of the tools that show data, before the tool in question is called. */
const ROUNDS = 3;
/** A change must recur in as many new servers. */
const REPEATS = 2;
/** Tools that are called again in new servers at the same time. */
const MAX_CONFIRMING = 4;
/** Variants of the arguments with which a tool that only reads is called. */
const MAX_VARIANTS = 12;
/** Names of tools that show data. Another one that says that it only reads could itself change what these show. */
const SHOWS = /^(?:.*[_.\s-])?(?:list|get|show|read|find|search|view|fetch)(?:$|[_.\s-]|[A-Z])/;
const CREATES = /(?:^|[_.\s-])(?:add|append|create|insert|new|put|register|remember|save|set|store|write)/i;

/**
 * Finds tools that say that they only read, and after whose calls the other tools of the same server show different data,
 * which may exist only in its memory; and tools that say that they are idempotent, and after whose repeated calls the
 * others do. First all tools are called in one server. A tool that seems to change something is called again in new
 * servers. Data that differ there while it is not called change by themselves, and do not count.
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
    ({ isReadOnly, isIdempotent, name }) =>
      (isReadOnly || isIdempotent) && views.some((one) => one.name !== name),
  );
  if (tested.length === 0) return found;
  const setting = { fill: callable.filter(isCreating).slice(0, MAX_FILLED), views, run };
  // What tools change that only read is not mixed with what the others do.
  tested.sort((one, other) => Number(other.isReadOnly) - Number(one.isReadOnly));
  const suspects = await inServer(setting, (context) => findSuspects(tested, context));
  await runConcurrently(suspects ?? [], MAX_CONFIRMING, async (suspect) => {
    const tool = suspect.isByVariant ? await inServer(setting, findVariant(suspect.tool)) : suspect.tool;
    const evidence = tool && (await confirmChange(tool, setting));
    if (evidence !== undefined) found.set(suspect.tool.name, evidence);
  });
  return found;
}

interface Suspect {
  readonly tool: CallableTool;
  /** Whether the others differed only after calls with variants of its arguments. */
  readonly isByVariant: boolean;
}

/** Tools after whose calls another one shows something else than before. */
async function findSuspects(
  tools: readonly CallableTool[],
  context: ServerContext,
): Promise<readonly Suspect[]> {
  const suspects: Suspect[] = [];
  const show = await openViews(context);
  let before = await show();
  for (const tool of tools) {
    const hasChanged = async (): Promise<boolean> => {
      const former = before;
      before = await show();
      return differsForOthers(tool, former, before);
    };
    if (context.run.signal.aborted || context.server.hasEnded) break;
    if (tool.isIdempotent && (await callSets(tool, context))) before = await show();
    if (!(await callSets(tool, context))) continue;
    if (await hasChanged()) suspects.push({ tool, isByVariant: false });
    else if (tool.isReadOnly && (await callOnce(tool, tool.variants.slice(0, MAX_VARIANTS), context)))
      if (await hasChanged()) suspects.push({ tool, isByVariant: true });
  }
  return suspects;
}

/** Finds the variant of the arguments after which the others differ, and returns the tool with it alone. */
function findVariant(tool: CallableTool): (context: ServerContext) => Promise<CallableTool | undefined> {
  return async (context) => {
    const show = await openViews(context);
    let before = await show();
    for (const variant of tool.variants.slice(0, MAX_VARIANTS)) {
      if (!(await callOnce(tool, [variant], context))) continue;
      const after = await show();
      if (differsForOthers(tool, before, after)) return { ...tool, sets: [variant], variants: [] };
      before = after;
    }
    return undefined;
  };
}

type Views = ReadonlyMap<string, AnswerLines>;

/** A function that reads the views which stay the same while nothing is called. */
async function openViews(context: ServerContext): Promise<() => Promise<Views>> {
  const before = await readStableViews(context.views, { ...context, unstable: new Set() });
  const stable = context.views.filter(({ name }) => before.has(name));
  return async () => {
    await pause(context.run.pace.roundMs);
    return readViews(stable, context);
  };
}

function differsForOthers({ name }: CallableTool, before: Views, after: Views): boolean {
  return firstDifference(new Map([...before].filter(([view]) => view !== name)), after) !== undefined;
}

/** Calls a tool once with each of the sets. Returns whether a call succeeded. */
async function callOnce(
  { name }: CallableTool,
  sets: readonly ArgumentSet[],
  { server, run }: ServerContext,
): Promise<boolean> {
  let hasSucceeded = false;
  for (const { args } of sets)
    hasSucceeded = isSuccess((await callTool(server, run, { name, args })).answer) || hasSucceeded;
  return hasSucceeded;
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

/** Undefined if the change does not recur, or also happens without the call. */
async function confirmChange(
  tool: CallableTool,
  setting: ProbeSetting,
): Promise<readonly Evidence[] | undefined> {
  const unstable = new Set<string>();
  let seen: ViewChange | undefined;
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const before = seen;
    seen = await inServer(setting, async (context) => {
      const probe = (isCalled: boolean): Promise<ViewChange | undefined> =>
        probeWith(tool, { ...context, isCalled, unstable });
      if (tool.isIdempotent) await callSets(tool, context);
      // What happens some time after the start of a server would recur too, so each repeat waits longer than the last.
      for (let wait = 0; wait <= repeat; wait += 1) await probe(false);
      const change = await probe(true);
      if (change !== undefined) await probe(false);
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
  work: (context: ServerContext) => Promise<T>,
): Promise<T | undefined> {
  if (run.signal.aborted) return undefined;
  const opened = await run.openServer();
  if (!opened.ok) return undefined;
  const server = opened.value;
  try {
    await pause(run.pace.startMs);
    for (const { name, sets } of fill)
      for (const { args } of sets.slice(0, 2)) await callTool(server, run, { name, args });
    return await work({ server, views, run });
  } finally {
    await server.close();
  }
}

interface ServerContext extends Omit<ProbeSetting, 'fill'> {
  readonly server: CalledServer;
}

interface ProbeContext extends ServerContext, ProbeOptions {}

/** Calls a tool, and returns what the others then show differently. */
async function probeWith(tool: CallableTool, context: ProbeContext): Promise<ViewChange | undefined> {
  const { run, isCalled, unstable } = context;
  const others = context.views.filter(({ name }) => name !== tool.name && !unstable.has(name));
  const before = await readStableViews(others, context);
  if (!isCalled) await pause(run.pace.roundMs);
  else if (!(await callSets(tool, context))) return undefined;
  await pause(run.pace.roundMs);
  const after = await readViews(others, context);
  const seen = firstDifference(before, after);
  if (seen !== undefined && !isCalled) unstable.add(seen.view);
  if (seen === undefined || !isCalled || before.get(seen.view)?.size !== 0) return seen;
  // Data may have been loaded at its first use: calling the tool again then changes nothing.
  await callSets(tool, context);
  await pause(run.pace.roundMs);
  return firstDifference(after, await readViews(others, context), before);
}

/**
 * Calls a tool that only reads twice with each of two sets of arguments, since the first call may only prepare a change,
 * and another one once with the first set. Returns whether a call succeeded.
 */
async function callSets(
  { name, sets, isReadOnly }: CallableTool,
  { server, run }: ServerContext,
): Promise<boolean> {
  let hasSucceeded = false;
  for (const { args } of sets.slice(0, isReadOnly ? 2 : 1)) {
    const { answer } = await callTool(server, run, { name, args });
    if (!isSuccess(answer)) continue;
    hasSucceeded = true;
    if (isReadOnly) await callTool(server, run, { name, args });
  }
  return hasSucceeded;
}

/** The answers of tools that answered the same several times. */
async function readStableViews(
  views: readonly CallableTool[],
  context: ServerContext & Pick<ProbeOptions, 'unstable'>,
): Promise<Views> {
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

async function readViews(views: readonly CallableTool[], { server, run }: ServerContext): Promise<Views> {
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
function firstDifference(before: Views, after: Views, known: Views = before): ViewChange | undefined {
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
