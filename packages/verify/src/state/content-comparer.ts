import { extname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Child, ChildOptions, ProcessEnd } from '@assay-mcp/kit/platform/child';
import { type TaskFault, TaskProcess, getTaskProcessOptions } from '@assay-mcp/kit/platform/task-process';
import type {
  ContentComparison,
  Observation,
  OpenSandbox,
  Sandbox,
  StateChange,
  StateEntry,
} from '@assay-mcp/sandbox/observation';
import { compareAsAppended, encodeTask } from './comparison-task.ts';

/** Starts a process of Assay's own code that can change nothing and has no network. The error is a phrase. */
export type StartConfined = (options: ChildOptions, limits: MemoryLimits) => Promise<Result<Child, string>>;

interface MemoryLimits {
  /** Maximum data that the process may have in memory. */
  readonly dataMiB: number;
}

interface ComparisonLimits {
  /** Time for one pair of contents. */
  readonly pairMs: number;
  /** Time for all of them. */
  readonly allMs: number;
}

const LIMITS: ComparisonLimits = { pairMs: 5_000, allMs: 60_000 };
const HEAP_MIB = 512;
const DATA_MIB = 1_024;
const MAX_LINE_BYTES = 64 * 1024;

/** The build places it next to the program. */
const SCRIPT = fileURLToPath(new URL(`./comparison-worker${extname(import.meta.url)}`, import.meta.url));

/**
 * Compares the contents of changed files. The observed server wrote them, so they are read in a process without rights,
 * within limits of time and memory (docs/adr/0085).
 */
export class ContentComparer {
  readonly #start: StartConfined;
  readonly #limits: ComparisonLimits;
  #process: TaskProcess | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #spentMs = 0;
  #isClosed = false;

  constructor(start: StartConfined, limits: Partial<ComparisonLimits> = {}) {
    this.#start = start;
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Opens sandboxes whose observations have comparisons in place of contents. */
  compares(openSandbox: OpenSandbox): OpenSandbox {
    return async (options) => {
      const opened = await openSandbox(options);
      return opened.ok ? ok(this.#compares(opened.value)) : opened;
    };
  }

  #compares(sandbox: Sandbox): Sandbox {
    return {
      mechanisms: sandbox.mechanisms,
      missing: sandbox.missing,
      launch: (options) => sandbox.launch(options),
      observe: async () => this.#observed(await sandbox.observe()),
      finish: () => sandbox.finish(),
      close: () => sandbox.close(),
    };
  }

  async #observed(observation: Observation): Promise<Observation> {
    const changes: StateChange[] = [];
    for (const change of observation.changes) changes.push(await this.#compared(change));
    return { ...observation, changes };
  }

  /** How `after` relates to `before`. */
  compare(before: Buffer, after: Buffer): Promise<ContentComparison> {
    const appended = compareAsAppended(before, after);
    if (appended !== undefined) return Promise.resolve(appended);
    const turn = this.#last.then(() => this.#compareInTurn(before, after));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#process?.close();
    await this.#last;
  }

  async #compared(change: StateChange): Promise<StateChange> {
    const { kind, before, after } = change;
    const isWanted =
      kind === 'modified' &&
      before?.type === 'file' &&
      after?.type === 'file' &&
      before.digest !== after.digest &&
      change.isLog !== true;
    const contents = isWanted ? { before: before.content, after: after.content } : undefined;
    const comparison =
      contents?.before && contents.after && (await this.compare(contents.before, contents.after));
    return {
      ...change,
      ...(before !== undefined && { before: withoutContent(before) }),
      ...(after !== undefined && { after: withoutContent(after) }),
      ...(comparison !== undefined && { comparison }),
    };
  }

  async #compareInTurn(before: Buffer, after: Buffer): Promise<ContentComparison> {
    const { allMs, pairMs } = this.#limits;
    const leftMs = allMs - this.#spentMs;
    if (this.#isClosed) return notCompared('the verification has ended');
    if (leftMs <= 0) return notCompared(`comparing files took longer than ${allMs / 1_000} s`);
    const sinceMs = performance.now();
    try {
      const process = await this.#started();
      if (!process.ok) return notCompared(process.error);
      const outcome = await process.value.run(encodeTask(before, after), Math.min(pairMs, leftMs));
      if (outcome.kind === 'done') return comparisonOf(outcome.result);
      return notCompared(faultText(outcome.fault));
    } finally {
      this.#spentMs += performance.now() - sinceMs;
    }
  }

  /** One that runs, or a new one in place of one that has ended. */
  async #started(): Promise<Result<TaskProcess, string>> {
    if (this.#process?.isIdle === true) return ok(this.#process);
    const child = await this.#start(getTaskProcessOptions(SCRIPT, HEAP_MIB), { dataMiB: DATA_MIB });
    if (!child.ok) return child;
    this.#process = new TaskProcess(child.value, MAX_LINE_BYTES);
    if (!this.#isClosed) return ok(this.#process);
    await this.#process.close();
    return err('the verification has ended');
  }
}

function withoutContent(entry: StateEntry): StateEntry {
  if (entry.type !== 'file') return entry;
  const { content, ...rest } = entry;
  return rest;
}

function notCompared(why: string): ContentComparison {
  return { format: 'unknown', why };
}

const FORMATS = ['bytes', 'lines', 'json', 'json_lines', 'sqlite'] as const;
const PHRASE = /^[\w ,.'-]{1,100}$/;

/** A comparison as the process reports it, which hostile contents may have taken over. */
function comparisonOf(value: unknown): ContentComparison {
  const { format, isAdditive, isTimestamps, why } = isJsonObject(value) ? value : {};
  const known = FORMATS.find((one) => one === format);
  if (known !== undefined && typeof isTimestamps === 'boolean')
    if (typeof isAdditive === 'boolean' || isAdditive === 'unknown')
      return { format: known, isAdditive, isTimestamps };
  const isPhrase = format === 'unknown' && typeof why === 'string' && PHRASE.test(why);
  return notCompared(isPhrase ? why : 'the process that compares files gave no valid answer');
}

function faultText(fault: TaskFault): string {
  switch (fault.code) {
    case 'too_slow':
      return `comparing it took longer than ${(fault.limitMs / 1_000).toFixed(1)} s`;
    case 'out_of_memory':
      return 'comparing it needs too much memory';
    case 'not_ready':
      return 'the process that compares files did not start in time';
    case 'closed':
      return 'the verification has ended';
    case 'process_ended':
      return `the process that compares files ${formatEnd(fault.end)}`;
  }
}

function formatEnd(end: ProcessEnd): string {
  if (end.code === 'PROCESS_EXITED') return `exited with code ${String(end.exitCode)}`;
  return end.code === 'PROCESS_KILLED' ? `was ended by ${end.signal}` : `failed (${end.code})`;
}
