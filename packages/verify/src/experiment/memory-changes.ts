import type { Evidence } from '@assay-mcp/kit/verification/verdict';
import { shorten } from '@assay-mcp/kit/shorten';
import { pause } from '@assay-mcp/kit/platform/pause';
import { runConcurrently } from '@assay-mcp/kit/run-concurrently';
import type { ArgumentSet } from '../arguments/choose-arguments.ts';
import { kindOfTool, type ToolKind } from '../arguments/tool-words.ts';
import {
  compareLines,
  findLoss,
  isDifferent,
  isWithoutText,
  type LineDifference,
} from '../judge/answer-lines.ts';
import type { ChangeInMemory } from '../judge/judge-tool.ts';
import type { SetupCall } from './explore-tools.ts';
import { prepareServer } from './prepare-server.ts';
import type { ServerRun } from './run-tool.ts';
import {
  type CallableTool,
  callOnce,
  isView,
  readStableViews,
  readViews,
  type ServerContext,
  type Views,
} from './views.ts';

const MAX_VIEWS = 8;
/** Calls that precede those of the tools. */
const MAX_SETUP = 24;
/** A change must recur in as many new servers. */
const REPEATS = 2;
/** Tools that are called again in new servers at the same time. */
const MAX_CONFIRMING = 4;
/** Sets of arguments of one tool. */
const MAX_VARIANTS = 16;
/** Names of tools that show what is in a state, which is not lost when it has another. */
const SHOWS_STATE =
  /(?:^|[_.\s-])(?:open|pending|active|available|unread|due|today|upcoming|free|overdue|next|queued?|todo)(?:$|[_.\s-])/i;

export interface MemoryRun extends ServerRun {
  /** Calls after which there is data. */
  readonly creatingCalls: readonly SetupCall[];
}

/**
 * Finds tools after whose calls the other tools of the same server show different data, which may exist only in its
 * memory, although they say that they only read; after whose repeated calls they do, although they say that they are
 * idempotent; and after whose calls data are lost, although they say that they only add. First all tools of a kind are called
 * in one server. A tool that seems to change something is called again in new servers. Data that differ there while it is not
 * called change by themselves, and do not count. Neither do what describes the use of a server, and what appears where
 * nothing was and stays the same when the tool is called again.
 */
export async function findMemoryChanges(
  tools: readonly CallableTool[],
  run: MemoryRun,
): Promise<ReadonlyMap<string, readonly ChangeInMemory[]>> {
  const found = new Map<string, readonly ChangeInMemory[]>();
  const callable = tools.filter(({ sets }) => sets.length > 0);
  const views = callable.filter(isView).slice(0, MAX_VIEWS);
  const tested = callable.filter(
    (tool) =>
      (tool.isReadOnly || tool.isIdempotent || tool.isAdditive) &&
      views.some(({ name }) => name !== tool.name),
  );
  if (tested.length === 0) return found;
  const setting = { views, run };
  // What tools change that only read is not mixed with what the others do. Nothing is removed before others use it.
  tested.sort((one, other) => rank(one) - rank(other));
  const groups = [true, false]
    .map((isReadOnly) => tested.filter((tool) => tool.isReadOnly === isReadOnly))
    .filter(({ length }) => length > 0);
  const suspects = await Promise.all(
    groups.map((group) => inServer(group, setting, (context) => findSuspects(group, context))),
  );
  await runConcurrently(
    suspects.flatMap((some) => some ?? []),
    MAX_CONFIRMING,
    async (suspect) => {
      const sets = suspect.areVariants
        ? await inServer([suspect.tool], setting, findVariant(suspect))
        : suspect.sets;
      const evidence = sets && (await confirmChange({ ...suspect, sets }, setting));
      const { name } = suspect.tool;
      if (evidence !== undefined)
        found.set(name, [...(found.get(name) ?? []), { hint: suspect.hint, evidence }]);
    },
  );
  return found;
}

const LAST: readonly ToolKind[] = ['changes', 'other', 'removes'];

function rank({ name }: CallableTool): number {
  return LAST.indexOf(kindOfTool(name));
}

/** Sets of arguments of a tool between which nothing is compared. */
interface Group {
  readonly tool: CallableTool;
  readonly sets: readonly ArgumentSet[];
  readonly areVariants: boolean;
}

function listGroups(tool: CallableTool): readonly Group[] {
  return [
    { tool, sets: tool.sets.slice(0, tool.isReadOnly ? 2 : 1), areVariants: false },
    { tool, sets: tool.variants.slice(0, MAX_VARIANTS), areVariants: true },
  ];
}

/** A hint that a tool seems to break when it is called with the group. */
interface Suspect extends Group {
  readonly hint: 'readOnlyHint' | 'idempotentHint' | 'destructiveHint';
}

/** Tools after whose calls another one shows something else than before. */
async function findSuspects(
  tools: readonly CallableTool[],
  context: ServerContext,
): Promise<readonly Suspect[]> {
  const suspects: Suspect[] = [];
  const show = await openViews(context);
  let before = await show();
  const check = async (suspect: Suspect): Promise<void> => {
    const former = before;
    before = await show();
    const isKnown = suspects.some(({ tool, hint }) => tool === suspect.tool && hint === suspect.hint);
    const change = findChange(suspect, former, before, { isOneCall: !suspect.areVariants });
    if (!isKnown && change !== undefined) suspects.push(suspect);
  };
  for (const { tool, sets, areVariants } of tools.flatMap(listGroups)) {
    if (context.run.signal.aborted || context.server.hasEnded) break;
    if (!(await callOnce(tool, sets, context))) continue;
    // A first call may only prepare a change.
    if (tool.isReadOnly && !areVariants) await callOnce(tool, sets, context);
    await check({ tool, sets, areVariants, hint: tool.isReadOnly ? 'readOnlyHint' : 'destructiveHint' });
    if (!tool.isIdempotent) continue;
    await callOnce(tool, sets, context);
    await check({ tool, sets, areVariants, hint: 'idempotentHint' });
  }
  return suspects;
}

/** Finds the one of many sets of arguments after which the others differ. */
function findVariant(
  suspect: Suspect,
): (context: ServerContext) => Promise<readonly ArgumentSet[] | undefined> {
  return async (context) => {
    const { tool, hint, sets } = suspect;
    const show = await openViews(context);
    let before = await show();
    for (const set of sets) {
      if (hint === 'idempotentHint' && (await callOnce(tool, [set], context))) before = await show();
      if (!(await callOnce(tool, [set], context))) continue;
      const after = await show();
      if (findChange(suspect, before, after) !== undefined) return [set];
      before = after;
    }
    return undefined;
  };
}

/** A function that reads the views which stay the same while nothing is called. */
async function openViews(context: ServerContext): Promise<() => Promise<Views>> {
  const before = await readStableViews(context.views, context, new Set());
  const stable = context.views.filter(({ name }) => before.has(name));
  return async () => {
    await pause(context.run.pace.roundMs);
    return readViews(stable, context);
  };
}

interface ViewChange {
  readonly view: string;
  readonly difference: LineDifference;
}

/** The first change of what another tool shows that is against the hint. */
function findChange(
  { tool, hint }: Pick<Suspect, 'tool' | 'hint'>,
  before: Views,
  after: Views,
  { isOneCall }: { readonly isOneCall: boolean } = { isOneCall: true },
): ViewChange | undefined {
  if (hint === 'destructiveHint' && !tool.isAdditive) return undefined;
  for (const [view, { lines, hasStableNumbers }] of before) {
    const now = after.get(view);
    if (now === undefined || view === tool.name) continue;
    const difference =
      hint === 'destructiveHint'
        ? findLostData(view, { before, after, isOneCall })
        : compareLines(lines, now.lines, { withAmounts: hasStableNumbers });
    if (difference !== undefined && isDifferent(difference)) return { view, difference };
  }
  return undefined;
}

/** What a tool no longer shows, unless another one shows it now. */
function findLostData(
  view: string,
  {
    before,
    after,
    isOneCall,
  }: { readonly before: Views; readonly after: Views; readonly isOneCall: boolean },
): LineDifference | undefined {
  const [former, now] = [before.get(view), after.get(view)];
  if (former === undefined || now === undefined || SHOWS_STATE.test(view)) return undefined;
  const loss = findLoss(former.lines, now.lines, {
    isOneCall,
    withIds: former.hasStableNumbers,
  });
  if (loss === undefined) return undefined;
  const shownNow = [...after].flatMap(([other, { lines }]) => {
    const known = other === view ? undefined : before.get(other);
    return known === undefined ? [] : compareLines(known.lines, lines, { withAmounts: false }).added;
  });
  const isMoved = loss.gone.some((line) => shownNow.some((added) => readValue(added) === readValue(line)));
  return isMoved ? undefined : loss;
}

/** The value of a line of JSON, else the whole line. */
function readValue(line: string): string {
  return line.slice(line.indexOf(': ') + 1).trim();
}

interface ProbeSetting {
  readonly views: readonly CallableTool[];
  readonly run: MemoryRun;
}

interface ProbeOptions {
  /** Otherwise as much time passes without a call. */
  readonly isCalled: boolean;
  /** Names of views that changed by themselves; those found are added. */
  readonly unstable: Set<string>;
}

/** Undefined if the change does not recur, or also happens without the call. */
async function confirmChange(
  suspect: Suspect,
  setting: ProbeSetting,
): Promise<readonly Evidence[] | undefined> {
  const unstable = new Set<string>();
  let seen: ViewChange | undefined;
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const before = seen;
    seen = await inServer([suspect.tool], setting, async (context) => {
      const probe = (isCalled: boolean): Promise<ViewChange | undefined> =>
        probeWith(suspect, { ...context, isCalled, unstable });
      if (suspect.hint === 'idempotentHint') await callOnce(suspect.tool, suspect.sets, context);
      // What happens some time after the start of a server would recur too, so each repeat waits longer than the last.
      for (let wait = 0; wait <= repeat; wait += 1) await probe(false);
      const change = await probe(true);
      if (change !== undefined) await probe(false);
      return change;
    });
    if (seen === undefined || (before !== undefined && before.view !== seen.view)) return undefined;
  }
  const [first] = suspect.sets;
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

/** Undefined if the server does not start. `tools`: what is called there, after the calls that precede them. */
async function inServer<T>(
  tools: readonly CallableTool[],
  { views, run }: ProbeSetting,
  work: (context: ServerContext) => Promise<T>,
): Promise<T | undefined> {
  if (run.signal.aborted) return undefined;
  const opened = await run.openServer();
  if (!opened.ok) return undefined;
  const server = opened.value;
  try {
    await pause(run.pace.startMs);
    const names = new Set(tools.map(({ name }) => name));
    // What a tool itself has created before is not changed by the same call.
    const others = run.creatingCalls.filter(({ tool }) => !names.has(tool));
    const setup = new Set([...others, ...[...views, ...tools].flatMap((tool) => tool.setup)]);
    const replace = await prepareServer(server, [...setup].slice(0, MAX_SETUP), run);
    return await work({ server, views, run, replace });
  } finally {
    await server.close();
  }
}

interface ProbeContext extends ServerContext, ProbeOptions {}

/** Calls a tool, and returns what the others then show differently. */
async function probeWith(suspect: Suspect, context: ProbeContext): Promise<ViewChange | undefined> {
  const { run, isCalled, unstable } = context;
  const { tool, sets } = suspect;
  const others = context.views.filter(({ name }) => name !== tool.name && !unstable.has(name));
  const before = await readStableViews(others, context, unstable);
  if (!isCalled) await pause(run.pace.roundMs);
  else {
    if (!(await callOnce(tool, sets, context))) return undefined;
    if (tool.isReadOnly) await callOnce(tool, sets, context);
  }
  await pause(run.pace.roundMs);
  const after = await readViews(others, context);
  const seen = findChange(suspect, before, after);
  if (seen !== undefined && !isCalled) unstable.add(seen.view);
  if (seen === undefined || !isCalled || !isWithoutText(before.get(seen.view)?.lines ?? [])) return seen;
  // Data may have been loaded at its first use: calling the tool again then changes nothing.
  await callOnce(tool, sets, context);
  await pause(run.pace.roundMs);
  const known = new Map([...after].filter(([view]) => before.has(view)));
  return findChange(suspect, known, await readViews(others, context));
}
