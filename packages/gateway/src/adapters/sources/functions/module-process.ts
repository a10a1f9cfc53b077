import {
  OPEN_ASKS,
  type AskAnswer,
  type FromRunner,
  type Manifest,
  type ToRunner,
} from '@assay-mcp/functions/function-messages';
import { Cancelled } from '@assay-mcp/kit/cancellation';
import { type Cause, formatCause } from '../../../core/cause.ts';
import type { FunctionModuleSpec } from '../../../core/sources/custom-tools.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Log } from '../../../gateway/ports/log.ts';
import type { Child } from '@assay-mcp/kit/platform/child';
import type { Launcher } from '@assay-mcp/kit/platform/launcher';
import { LineSplitter } from '@assay-mcp/kit/platform/lines';
import { measureResidentBytes } from '@assay-mcp/kit/platform/resident-bytes';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import {
  type BuiltInArguments,
  type BuiltInCall,
  type BuiltInResult,
  toErrorResult,
} from '../built-in-tool.ts';
import { CallsInFlight, type CallInFlight } from './calls-in-flight.ts';
import { OutputLog, UnreadInput } from './process-streams.ts';
import { readMessage } from './read-message.ts';
import { getModuleName, type RunnerCommand } from './runner-command.ts';

/** The runner limits its results to less. */
const LINE_LIMIT_BYTES = 8 * 1024 * 1024;
const LOAD_LIMIT_MS = 10_000;
/** How long a cancelled call may take to end before its process is checked with a ping. */
const OVER_LIMIT_MS = 1_000;
const PING_LIMIT_MS = 2_000;
const LOOK_AT_MEMORY_MS = 200;
/** Without calls, memory is checked only every nth time. */
const IDLE_LOOKS = 5;
/** Memory of Node itself, on top of the heap that `memoryMb` limits. */
const OWN_MB = 128;

type AskMessage = Extract<FromRunner, { kind: 'ask' }>;
const NOBODY: AskAnswer = { ok: false, error: 'Cannot ask: the call has ended.' };

export interface ProcessParts {
  readonly spec: FunctionModuleSpec;
  readonly command: RunnerCommand;
  readonly launcher: Launcher;
  readonly log: Log;
  /** Called for each file of the module that was read. */
  onFile(path: string): void;
  /** Called when the process has read its backlog, or no call needs to wait for that any more. */
  onTaken(): void;
}

/** One process that serves one version of a module's files. */
export class ModuleProcess {
  readonly #parts: ProcessParts;
  readonly #child: Child;
  readonly #mark: string = `${crypto.randomUUID()} `;
  readonly #calls = new CallsInFlight();
  readonly #output: OutputLog;
  readonly #unread: UnreadInput;
  readonly #pings = new Map<number, () => void>();
  #lastPing = 0;
  #cause: Cause | undefined;
  #isRetired = false;
  #isGone = false;
  #isKilled = false;
  #ranOutOfHeap = false;
  readonly #looking: NodeJS.Timeout;
  #looks = 0;
  #leaving: NodeJS.Timeout | undefined;
  #loaded: (loaded: Result<Manifest, string>) => void = () => undefined;
  /** The error is a phrase or the text of a fault in the module. */
  readonly loaded: Promise<Result<Manifest, string>>;
  /** Resolves with the cause when the process has ended. */
  readonly ended: Promise<Cause>;

  constructor(parts: ProcessParts) {
    this.#parts = parts;
    this.#output = new OutputLog(parts.log, parts.spec.path);
    const loading = new Promise<Result<Manifest, string>>((resolve) => (this.#loaded = resolve));
    this.#child = parts.launcher.launch(parts.command.options);
    this.#unread = new UnreadInput(this.#child, () => parts.onTaken());
    const lines = new LineSplitter(LINE_LIMIT_BYTES, {
      line: (line) => this.#receive(line),
      tooLong: () => this.#output.line(Buffer.from('(a line that is too long)')),
    });
    this.#child.onOutput((chunk) => lines.push(chunk));
    this.#child.onErrorOutput((chunk) => {
      this.#ranOutOfHeap ||= chunk.includes('JavaScript heap out of memory');
      this.#output.push(chunk);
    });
    this.ended = this.#child.ended.then((end) => this.#end(end));
    this.#looking = setInterval(() => void this.#lookAtMemory(), LOOK_AT_MEMORY_MS).unref();
    this.#send({ ...parts.command.load, mark: this.#mark });
    this.loaded = this.#withinLimit(loading);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Bytes sent to the process that it has not read. */
  get unreadBytes(): number {
    return this.#unread.bytes;
  }

  /** Whether another process replaces it. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** Whether it takes no more calls, because it has ended or is about to. */
  get hasEnded(): boolean {
    return this.#cause !== undefined;
  }

  /** See `BuiltInTool.run`. */
  run(tool: string, args: BuiltInArguments, call: BuiltInCall): Promise<BuiltInResult> {
    const refusal = this.#unread.refusalOf(args.text, getModuleName(this.#parts.spec));
    if (refusal !== undefined) return Promise.resolve(toErrorResult(refusal));
    return new Promise((resolve, reject) => {
      const { cancellation } = call;
      const cancel = (): void => {
        underWay.isOver = true;
        this.#send({ kind: 'cancel', id: underWay.id });
        setTimeout(() => void this.#askIfBlocked(underWay.id), OVER_LIMIT_MS).unref();
        reject(new Cancelled());
      };
      const settle = (result: BuiltInResult): void => {
        cancellation.removeListener(cancel);
        resolve(result);
        if (this.#isRetired && this.#calls.size === 0) void this.#child.end();
      };
      const underWay = this.#calls.add({ tool, call, settle });
      this.#send({ kind: 'call', id: underWay.id, tool, args: args.text });
      if (cancellation.isCancelled) cancel();
      else cancellation.addListener(cancel);
      if (this.#isGone) this.#endCalls();
    });
  }

  /** Takes no more calls, and ends when the running ones have ended. */
  retire(): void {
    this.#isRetired = true;
    if (this.#calls.size === 0) void this.#child.end();
  }

  async close(cause: Cause): Promise<void> {
    this.#cause ??= cause;
    this.#endCalls();
    await this.#child.end();
  }

  #receive(line: Buffer): void {
    const mark = line.subarray(0, this.#mark.length).toString('latin1');
    if (mark !== this.#mark) {
      this.#output.line(line);
      return;
    }
    if (this.#isKilled) return;
    const message = readMessage(line.subarray(mark.length).toString());
    if (message.ok) this.#handle(message.value);
    else this.#kill({ code: 'PROCESS_OUTPUT_INVALID', reason: message.error });
  }

  #handle(message: FromRunner): void {
    switch (message.kind) {
      case 'file':
        return this.#parts.onFile(message.path);
      case 'ready':
        return this.#loaded(ok(message));
      case 'broken':
        return this.#loaded(err(message.fault));
      case 'begun':
        return this.#calls.begun(message.id);
      case 'done':
        return this.#calls.done(message.id, message.result);
      case 'pong':
        return this.#pings.get(message.id)?.();
      case 'exit':
        return this.#leaves({ code: 'EXIT_CALLED', exitCode: message.code, at: message.at });
      case 'stray':
        return this.#parts.log.warn('function threw after its call had ended', {
          module: this.#parts.spec.path,
          fault: message.fault,
        });
      case 'progress':
      case 'log':
      case 'ask':
        return this.#passOn(message);
    }
  }

  /** Kills the process after a delay, as its own exit listeners may keep it running. */
  #leaves(cause: Cause): void {
    this.#cause ??= cause;
    this.#leaving ??= setTimeout(() => this.#child.signal('SIGKILL'), OVER_LIMIT_MS).unref();
  }

  #passOn(message: Extract<FromRunner, { kind: 'progress' | 'log' | 'ask' }>): void {
    const callId = message.kind === 'ask' ? message.call : message.id;
    if (this.#calls.tellsTooMuch(callId, performance.now())) {
      this.#kill({ code: 'PROCESS_OUTPUT_EXCESSIVE' });
      return;
    }
    const underWay = this.#calls.get(callId);
    if (message.kind === 'ask') void this.#ask(message, underWay);
    else if (underWay === undefined || underWay.isOver) return;
    else if (message.kind === 'progress')
      underWay.call.progress(message.progress, message.total, message.message);
    else underWay.call.log(message.level, message.data);
  }

  async #ask({ id, message, schema }: AskMessage, underWay: CallInFlight | undefined): Promise<void> {
    const answer = (given: AskAnswer): void => this.#send({ kind: 'answer', id, answer: given });
    if (underWay === undefined || underWay.isOver || underWay.asking >= OPEN_ASKS) {
      answer(NOBODY);
      return;
    }
    underWay.asking += 1;
    const params = { message, requestedSchema: schema };
    answer(await underWay.call.ask('elicitation/create', params).catch(() => NOBODY));
    underWay.asking -= 1;
  }

  #send(message: ToRunner): void {
    this.#child.write([Buffer.from(`${JSON.stringify(message)}\n`)]);
    this.#unread.written();
  }

  async #withinLimit(loading: Promise<Result<Manifest, string>>): Promise<Result<Manifest, string>> {
    const loaded = await waitAtMost(loading, LOAD_LIMIT_MS);
    if (loaded !== undefined) return loaded;
    this.#kill({ code: 'MODULE_LOAD_TIMEOUT', limitMs: LOAD_LIMIT_MS });
    return err(`it did not load within ${LOAD_LIMIT_MS / 1000} s`);
  }

  /** A cancelled call that keeps running only matters if it blocks the process for others. */
  async #askIfBlocked(id: number): Promise<void> {
    if (this.#calls.get(id) === undefined || this.hasEnded) return;
    const ping = ++this.#lastPing;
    const answered = new Promise<true>((resolve) => this.#pings.set(ping, () => resolve(true)));
    this.#send({ kind: 'ping', id: ping });
    const isAnswering = await waitAtMost(answered, PING_LIMIT_MS);
    this.#pings.delete(ping);
    if (isAnswering === true) {
      this.#calls.forget(id);
      if (this.#isRetired && this.#calls.size === 0) void this.#child.end();
    } else {
      const tool = JSON.stringify(this.#calls.blocker ?? this.#calls.get(id)?.tool);
      this.#kill({ code: 'EVENT_LOOP_BLOCKED', tool });
    }
  }

  async #lookAtMemory(): Promise<void> {
    this.#looks += 1;
    if (this.#calls.size === 0 && this.#looks % IDLE_LOOKS !== 0) return;
    const { memoryMb } = this.#parts.spec;
    const bytes = this.pid === undefined ? undefined : await measureResidentBytes(this.pid);
    if (bytes !== undefined && bytes > (memoryMb + OWN_MB) * 1024 * 1024) this.#kill(this.#memoryCause());
  }

  #memoryCause(): Cause {
    return { code: 'MEMORY_EXCEEDED', limitMb: this.#parts.spec.memoryMb };
  }

  #kill(cause: Cause): void {
    this.#isKilled = true;
    this.#cause ??= cause;
    this.#child.signal('SIGKILL');
  }

  #end(cause: Cause): Cause {
    this.#cause ??= this.#ranOutOfHeap ? this.#memoryCause() : cause;
    clearInterval(this.#looking);
    clearTimeout(this.#leaving);
    this.#output.end();
    this.#isGone = true;
    this.#loaded(err(`its process ${formatCause(this.#cause)} while it was loaded`));
    this.#endCalls();
    return this.#cause;
  }

  #endCalls(): void {
    const cause = this.#cause === undefined ? 'ended' : formatCause(this.#cause);
    const name = getModuleName(this.#parts.spec);
    this.#calls.endAll(() => `The process of the functions in ${name} ${cause}. The next call restarts it.`);
  }
}
