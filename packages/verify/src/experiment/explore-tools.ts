import { serializeCanonical } from '@assay-mcp/kit/canonical-json';
import { pickDeclaredHints } from '@assay-mcp/kit/hint';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { pause } from '@assay-mcp/kit/platform/pause';
import {
  type ArgumentSet,
  createSet,
  proposeArguments,
  type Proposal,
} from '../arguments/choose-arguments.ts';
import { type Adjustments, NO_ADJUSTMENTS, withSmallNumbers } from '../arguments/generate-value.ts';
import { findPrerequisites } from '../arguments/find-prerequisites.ts';
import type { ArgumentContext } from '../arguments/heuristics.ts';
import { findValues, type FoundValue, Knowledge } from '../arguments/knowledge.ts';
import { listUses } from '../arguments/list-uses.ts';
import { readError } from '../arguments/read-error.ts';
import { kindOfTool, type ToolKind } from '../arguments/tool-words.ts';
import { isQuiet } from '../judge/effects.ts';
import { type Answer, isSuccess, NOTHING, type Trial } from '../judge/trial.ts';
import type { ListedTool, SandboxedServer } from './sandboxed-server.ts';

type ExploredServer = Pick<SandboxedServer, 'call' | 'observe' | 'hasEnded' | 'close'>;

export interface ExploreRun {
  readonly tools: readonly ListedTool[];
  readonly place: Omit<ArgumentContext, 'knowledge'>;
  /** Arguments that are tried before generated ones. */
  readonly given: (tool: string) => readonly ArgumentSet[];
  /** A new server, if one has ended. Undefined if it does not start. */
  readonly reopen: () => Promise<ExploredServer | undefined>;
  /** Time limits for one call and for all of them, in ms. */
  readonly callMs: number;
  readonly timeMs: number;
  readonly settleMs: number;
  readonly signal: AbortSignal;
}

/** A call that precedes those of another tool, which takes a value of its result. */
export interface SetupCall {
  readonly tool: string;
  readonly args: JsonObject;
  /** The values of its result, in their order. */
  readonly values: readonly FoundValue[];
}

export interface Attempt {
  readonly args: JsonObject;
  readonly answer: Answer;
}

/** What is known about how to call a tool. */
export interface ExploredTool {
  /** Arguments with which a call has succeeded; else those of the last attempt. */
  readonly sets: readonly ArgumentSet[];
  /** Calls that may have to come before, in alternatives that are tried in turn. */
  readonly setups: readonly (readonly SetupCall[])[];
  readonly attempts: readonly Attempt[];
  /** The first successful call, if nothing changed. */
  readonly quiet: Trial | undefined;
}

export interface Explored {
  readonly tools: ReadonlyMap<string, ExploredTool>;
  readonly knowledge: Knowledge;
  /** The last successful calls that may have created data, without those of tools that say that they only read. */
  readonly creatingCalls: readonly SetupCall[];
}

const MAX_ROUNDS = 5;
/** Attempts for each tool in a round, after the first. */
const MAX_TRIES = 3;
const MAX_TIMEOUTS = 1;
const MAX_STARTS = 6;
const MAX_SETUP = 12;
/** A call that takes longer does not precede others that do not need it. */
const SLOW_MS = 1_000;
/** How often other tools are called because an answer asked for them, for each tool. */
const MAX_PREPARED = 3;
/** Calls of a tool that are made again with the same arguments, after others have changed something. */
const MAX_REPEATED = 2;
/** Tools that are tried in a new process, since whatever they were called with, they failed in the same way. */
const MAX_ALONE = 4;
const ALONE_TRIES = 2;
const ORDER: readonly ToolKind[] = ['lists', 'creates', 'other', 'reads', 'changes', 'removes'];

/**
 * Calls the tools of one server in turn until each has answered successfully: in the first round each tool once, then
 * those that failed with what has been learned since from results and errors.
 */
export async function exploreTools(server: ExploredServer, run: ExploreRun): Promise<Explored> {
  const exploration = new Exploration(server, run);
  await exploration.explore();
  return exploration.result();
}

interface ToolState {
  readonly tool: ListedTool;
  /** Arguments, with the number of changes that tools had made before. */
  readonly tried: Map<string, number>;
  readonly attempts: Attempt[];
  adjustments: Adjustments;
  success: { readonly set: ArgumentSet; readonly call: number; readonly isDoubtful: boolean } | undefined;
  last: ArgumentSet | undefined;
  quiet: Trial | undefined;
  timeouts: number;
  prepared: number;
  repeated: number;
  /** Arguments to call again with, since what they lacked has been prepared. */
  again: ArgumentSet | undefined;
  /** The numbers of calls that answers of the tool asked for. */
  readonly required: Set<number>;
}

interface MadeCall extends SetupCall {
  readonly uses: readonly number[];
  readonly isSlow: boolean;
}

class Exploration {
  readonly #run: ExploreRun;
  readonly #states: readonly ToolState[];
  readonly #knowledge = new Knowledge();
  readonly #calls: MadeCall[] = [];
  readonly #endMs: number;
  #server: ExploredServer | undefined;
  #starts = 0;
  /** Successful calls that may have changed something. */
  #changes = 0;

  constructor(server: ExploredServer, run: ExploreRun) {
    this.#server = server;
    this.#run = run;
    this.#endMs = Date.now() + Math.floor(run.timeMs);
    const rank = ({ name }: ListedTool): number => ORDER.indexOf(kindOfTool(name));
    this.#states = [...run.tools]
      .sort((one, other) => rank(one) - rank(other))
      .map((tool) => ({
        ...{ tool, tried: new Map(), attempts: [], adjustments: NO_ADJUSTMENTS, success: undefined },
        ...{ last: undefined, quiet: undefined, timeouts: 0, prepared: 0, repeated: 0, again: undefined },
        required: new Set(),
      }));
  }

  async explore(): Promise<void> {
    await this.#exploreTogether();
    const stuck = this.#states.filter((state) => isOpen(state) && failsAlike(state)).slice(0, MAX_ALONE);
    for (const state of stuck) if (!this.#isOver) await this.#tryAlone(state);
  }

  async #exploreTogether(): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const open = this.#states.filter((state) => isOpen(state));
      const before = this.#calls.length;
      for (const state of open) {
        // What was passed over may have become a good value.
        state.adjustments = { ...state.adjustments, passed: new Map() };
        for (let tries = round === 0 ? 1 : MAX_TRIES; tries > 0 && isOpen(state); tries -= 1) {
          if (this.#isOver) return;
          if (!(await this.#attempt(state))) break;
        }
      }
      if (open.length === 0 || (round > 1 && this.#calls.length === before)) return;
      if (round < 2) {
        await this.#createAgain();
        await this.#listAgain();
      }
    }
  }

  result(): Explored {
    const tools = this.#states.map((state) => [state.tool.name, this.#explored(state)] as const);
    const readOnly = new Set(
      this.#run.tools.flatMap(({ name, annotations }) =>
        pickDeclaredHints(annotations).readOnlyHint === true ? [name] : [],
      ),
    );
    const creatingCalls = this.#listChanging()
      .flatMap((at) => this.#calls[at] ?? [])
      .filter(({ tool }) => !readOnly.has(tool))
      .slice(-MAX_SETUP);
    return { tools: new Map(tools), knowledge: this.#knowledge, creatingCalls };
  }

  get #isOver(): boolean {
    return this.#run.signal.aborted || Date.now() >= this.#endMs || this.#server === undefined;
  }

  get #context(): ArgumentContext {
    return { ...this.#run.place, knowledge: this.#knowledge };
  }

  /** What tools have removed is needed by others. */
  async #createAgain(): Promise<void> {
    const successes = this.#states.flatMap(({ tool, success }) =>
      success === undefined ? [] : [{ kind: kindOfTool(tool.name), name: tool.name, ...success }],
    );
    if (!successes.some(({ kind }) => kind === 'removes')) return;
    const created = successes.filter(({ kind, isDoubtful }) => kind === 'creates' && !isDoubtful);
    this.#knowledge.preferSince(this.#calls.length);
    for (const { name, set } of created.sort((one, other) => one.call - other.call).slice(0, MAX_SETUP))
      if (!this.#isOver) await this.#call(name, set);
  }

  /** In a new process, what other tools did before is not in the way. */
  async #tryAlone(state: ToolState): Promise<void> {
    const { args } = state.attempts[0] ?? {};
    if (args === undefined || this.#starts >= MAX_STARTS) return;
    await this.#renew();
    state.again = createSet(args, 'heuristic');
    // Again after the first, for which an error may have asked for another tool.
    for (let tries = 0; tries < ALONE_TRIES && isOpen(state) && !this.#isOver; tries += 1)
      await this.#attempt(state);
  }

  /** Lists may now contain what other tools have created. */
  async #listAgain(): Promise<void> {
    for (const { tool, success } of this.#states)
      if (success !== undefined && kindOfTool(tool.name) === 'lists' && !this.#isOver)
        await this.#call(tool.name, success.set);
  }

  /** Returns whether there were arguments to try. `isAsked`: for the sake of another tool. */
  async #attempt(state: ToolState, isAsked = false): Promise<boolean> {
    const { tool } = state;
    const set = this.#next(state);
    if (set === undefined) return false;
    state.again = undefined;
    state.tried.set(serializeCanonical(set.args), this.#changes);
    state.last = set;
    const { answer, call } = await this.#call(tool.name, set, state.required);
    state.attempts.push({ args: set.args, answer });
    const isDoubtful = !isClearSuccess(answer);
    if (isSuccess(answer) && call !== undefined && (state.success?.isDoubtful ?? true))
      state.success = { set, call, isDoubtful };
    if (state.success?.set === set && !isDoubtful) {
      state.quiet = await this.#quietTrial(set, answer);
      return true;
    }
    if (answer.kind === 'failed' && answer.reason !== 'error') {
      state.timeouts += 1;
      await this.#renew();
    }
    if (answer.kind === 'failed' && answer.reason === 'timeout')
      state.adjustments = withSmallNumbers(tool.inputSchema, state.adjustments);
    else if (!isAsked && (await this.#prepare(state, answer.text))) state.again = set;
    else this.#adjust(state, { set, text: answer.text });
    return true;
  }

  #adjust(state: ToolState, { set, text }: { readonly set: ArgumentSet; readonly text: string }): void {
    const { adjustments } = state;
    const failed = { args: set.args, text, inputSchema: state.tool.inputSchema, adjustments };
    state.adjustments = readError(failed, this.#context) ?? adjustments;
  }

  /** Calls tools that an answer asks to call before. Returns whether one of them succeeded. */
  async #prepare(state: ToolState, text: string): Promise<boolean> {
    if (state.prepared >= MAX_PREPARED) return false;
    const names = this.#states.map(({ tool }) => tool.name);
    for (const name of findPrerequisites(text, state.tool.name, names)) {
      if (state.prepared >= MAX_PREPARED || this.#isOver) return false;
      state.prepared += 1;
      const other = this.#states.find(({ tool }) => tool.name === name);
      const call = other === undefined ? undefined : await this.#callUntilSuccess(other);
      if (call === undefined || state.required.has(call)) continue;
      state.required.add(call);
      return true;
    }
    return false;
  }

  /** Repeats the tool's successful call, or tries until one succeeds. Returns the number of that call. */
  async #callUntilSuccess(state: ToolState): Promise<number | undefined> {
    if (state.success?.isDoubtful === false)
      return (await this.#call(state.tool.name, state.success.set, state.required)).call;
    for (let tries = 0; tries < MAX_TRIES && isOpen(state) && !this.#isOver; tries += 1)
      if (!(await this.#attempt(state, true))) break;
    return state.success?.call;
  }

  /** The likeliest arguments that have not been tried, or not since something changed. */
  #next(state: ToolState): ArgumentSet | undefined {
    const { tried, again } = state;
    if (again !== undefined) return again;
    let old: ArgumentSet | undefined;
    for (const set of this.#proposed(state)) {
      const changes = tried.get(serializeCanonical(set.args));
      if (changes === undefined) return set;
      if (changes < this.#changes) old ??= set;
    }
    if (old === undefined || state.repeated >= MAX_REPEATED) return undefined;
    state.repeated += 1;
    return old;
  }

  *#proposed({ tool, adjustments }: ToolState): Generator<ArgumentSet> {
    yield* this.#run.given(tool.name);
    for (const strategy of strategiesFor(tool)) {
      const proposal = { ...strategy, adjustments: strategy.with(adjustments) };
      const set = proposeArguments(tool, this.#context, proposal);
      if (set !== undefined) yield set;
    }
  }

  async #call(
    tool: string,
    { args }: ArgumentSet,
    required: ReadonlySet<number> = new Set(),
  ): Promise<{ readonly answer: Answer; readonly call: number | undefined }> {
    const { callMs: limitMs, signal } = this.#run;
    if (this.#server === undefined || this.#server.hasEnded) await this.#renew();
    const server = this.#server;
    if (server === undefined)
      return { answer: { kind: 'failed', reason: 'ended', text: '' }, call: undefined };
    const uses = [...listUses(tool, args, this.#knowledge), ...required];
    const startedMs = performance.now();
    const { answer, result } = await server.call(tool, args, { limitMs, signal });
    if (!isSuccess(answer) || result === undefined) return { answer, call: undefined };
    const values = findValues(tool, result);
    const isSlow = performance.now() - startedMs > SLOW_MS;
    const call = this.#calls.push({ tool, args, values, uses, isSlow }) - 1;
    if (!isClearSuccess(answer)) return { answer, call };
    this.#knowledge.learn(tool, args, values, call);
    if (!['lists', 'reads'].includes(kindOfTool(tool))) this.#changes += 1;
    return { answer, call };
  }

  /** Starts the server again if it has ended or no longer answers. */
  async #renew(): Promise<void> {
    this.#starts += 1;
    await this.#server?.close();
    this.#server = this.#starts > MAX_STARTS ? undefined : await this.#run.reopen();
  }

  async #quietTrial({ args, origin, shape }: ArgumentSet, answer: Answer): Promise<Trial | undefined> {
    const atMs = Date.now();
    await pause(this.#run.settleMs);
    const observation = await this.#server?.observe();
    if (observation === undefined || !isQuiet(observation, { seed: this.#run.place.folder }))
      return undefined;
    return {
      ...{ args, origin, shape, control: NOTHING, pending: new Set<string>(), late: NOTHING },
      calls: [{ number: 1, atMs, answer, observation }],
      ...{ end: undefined, endWithoutCall: undefined, replay: undefined },
    };
  }

  #explored({ success, last, attempts, quiet }: ToolState): ExploredTool {
    const sets = [success?.set ?? last].filter((set) => set !== undefined);
    const setups = success === undefined ? [[]] : this.#setupsOf(success.call);
    return { sets, setups, attempts, quiet };
  }

  /** The numbers of the calls that may have changed something, without those that removed it. */
  #listChanging(): readonly number[] {
    return this.#calls.flatMap(({ tool, isSlow }, at) =>
      isSlow || ['lists', 'reads', 'removes'].includes(kindOfTool(tool)) ? [] : [at],
    );
  }

  /**
   * What is called before a call: those whose values it used; these and the ones that answers asked for, which may have
   * prepared the server for all tools; else all former calls that may have changed something.
   */
  #setupsOf(call: number): readonly (readonly SetupCall[])[] {
    const needed = new Set<number>();
    const visit = (at: number): void => {
      for (const use of this.#calls[at]?.uses ?? []) {
        if (use >= at || needed.has(use)) continue;
        needed.add(use);
        visit(use);
      }
    };
    visit(call);
    const asked = this.#states.flatMap(({ required }) => [...required].filter((at) => at < call));
    const prepared = new Set([...needed, ...asked.slice(0, MAX_SETUP / 2)]);
    const changing = this.#listChanging().filter((at) => at < call && !prepared.has(at));
    const room = Math.max(MAX_SETUP - prepared.size, 0);
    const all = [...prepared, ...(room === 0 ? [] : changing.slice(-room))];
    const lists = [[...needed], [...prepared], all].filter(
      (list, at, others) => at === 0 || list.length > (others[at - 1]?.length ?? 0),
    );
    return lists.map((list) =>
      list
        .sort((one, other) => one - other)
        .slice(-MAX_SETUP)
        .flatMap((at) => this.#calls[at] ?? []),
    );
  }
}

function isOpen({ success, timeouts }: ToolState): boolean {
  return (success === undefined || success.isDoubtful) && timeouts <= MAX_TIMEOUTS;
}

/** Whether a call succeeded, and its text does not report a failure. */
export function isClearSuccess(answer: Answer): boolean {
  return isSuccess(answer) && !REPORTED_FAILURE.test(answer.text);
}

function failsAlike({ attempts, timeouts }: ToolState): boolean {
  const [first] = attempts;
  return (
    timeouts === 0 &&
    attempts.length > 0 &&
    attempts.every(({ answer }) => answer.text === first?.answer.text)
  );
}

/** How texts begin that report a failure in a successful result. */
const REPORTED_FAILURE =
  /^\W{0,4}(?:error|failed|failure|invalid|cannot|could not|unable|missing|unknown|not found|no such)\b|^\s*\{\s*"(?:error|success":\s*false|ok":\s*false|status":\s*"(?:error|fail))|"isError":\s*true|^[^\n]{0,80}\b(?:not found|does not exist)\b/i;

interface Strategy extends Omit<Proposal, 'adjustments'> {
  readonly with: (adjustments: Adjustments) => Adjustments;
}

const MAX_OPTIONAL = 6;

function strategiesFor({ inputSchema }: ListedTool): readonly Strategy[] {
  const same = (adjustments: Adjustments): Adjustments => adjustments;
  const optional = optionalMembers(inputSchema).slice(0, MAX_OPTIONAL);
  const plain = [
    { variant: 0, isFull: false },
    { variant: 0, isFull: true },
    { variant: 1, isFull: false },
  ].map((strategy) => ({ ...strategy, with: same }));
  const single = optional.map((name) => ({
    ...{ variant: 0, isFull: false },
    with: (adjustments: Adjustments): Adjustments => ({
      ...adjustments,
      included: new Set([...adjustments.included, name]),
    }),
  }));
  return [
    ...plain,
    ...single,
    { variant: 2, isFull: false, with: same },
    { variant: 1, isFull: true, with: same },
  ];
}

function optionalMembers({ properties, required }: JsonObject): readonly string[] {
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return names.filter((name) => !needed.includes(name));
}
