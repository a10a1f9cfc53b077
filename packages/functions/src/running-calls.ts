import { AsyncLocalStorage } from 'node:async_hooks';
import { type AskAnswer, isRecord, NOTES_PER_SECOND, OPEN_ASKS } from './function-messages.ts';
import type { Answer, Question, ToolContext } from './define-tool.ts';
import { readSchema, type ReadTool, type WriteZod } from './exported-tools.ts';
import { formatThrown, tryToString, type FaultContext, tryTo } from './fault-text.ts';
import { nowMs, parse, stringify } from './harden-globals.ts';
import type { Host } from './host.ts';
import { serializeError, isResult, serializeReturned } from './result-text.ts';
import { shorten, truncateText } from '@assay-mcp/kit/shorten';
import { TokenBucket } from '@assay-mcp/kit/token-bucket';

const NOTE_LIMIT = 64 * 1024;

interface CallParts extends FaultContext {
  readonly host: Host;
  readonly writeZod: WriteZod | undefined;
}

interface Running {
  readonly aborting: AbortController;
  readonly notes: CallNotes;
  /** Number of unanswered questions. */
  asking: number;
  /** Ends the call with an error thrown outside of what it awaits. */
  fail(thrown: unknown): void;
}

/** The calls that this process is running. */
export class RunningCalls {
  readonly #parts: CallParts;
  readonly #running = new Map<number, Running>();
  readonly #asks = new Map<number, (answer: AskAnswer) => void>();
  readonly #current = new AsyncLocalStorage<number>();
  #lastAsk = 0;
  #lastBegun: number | undefined;

  constructor(parts: CallParts) {
    this.#parts = parts;
  }

  async run(id: number, tool: ReadTool, args: string): Promise<void> {
    const { host } = this.#parts;
    const aborting = new AbortController();
    const notes = new CallNotes(id, host);
    const failed = new Promise<never>((_, reject) =>
      this.#running.set(id, { aborting, notes, asking: 0, fail: reject }),
    );
    this.#reportBegun(id);
    const result = await Promise.race([
      this.#current.run(id, () => this.#result(id, tool, args)),
      failed,
    ]).catch((thrown: unknown) => serializeError(formatThrown(thrown, this.#parts)));
    this.#running.delete(id);
    notes.end();
    host.sendDone(id, result);
  }

  cancel(id: number): void {
    this.#running.get(id)?.aborting.abort();
  }

  answer(id: number, answer: AskAnswer): void {
    this.#asks.get(id)?.(answer);
    this.#asks.delete(id);
  }

  /** Ends the call that an uncaught error belongs to. Returns false if there is none. */
  failCurrent(thrown: unknown): boolean {
    const id = this.#current.getStore();
    const running = id === undefined ? undefined : this.#running.get(id);
    running?.fail(thrown);
    return running !== undefined;
  }

  async #result(id: number, tool: ReadTool, args: string): Promise<string> {
    const given: unknown = parse(args);
    const parsed = await tool.input.parse?.(given);
    if (parsed?.ok === false) return serializeError(parsed.error);
    const { run } = tool.fields;
    if (typeof run !== 'function') return serializeError('The tool has no function "run" any more.');
    const value = parsed === undefined ? given : parsed.value;
    const context = this.#contextOf(id);
    if (context.signal.aborted) return serializeError('The call was cancelled before it began.');
    // Another call may have begun while the arguments were checked; the last one is blamed if the process is blocked.
    if (this.#lastBegun !== id) this.#reportBegun(id);
    const returned: unknown = await (Reflect.apply(run, tool.fields, [value, context]) as unknown);
    const structured = structuredOf(returned);
    if (tool.output === undefined || tryTo(() => isResult(returned) && isErrorResult(returned)) === true)
      return serializeReturned(returned, this.#parts);
    if (structured === undefined)
      return serializeError(
        'The tool says what its output looks like, and returned no object: it must return one.',
      );
    const fits = await tool.output.parse?.(structured);
    if (fits?.ok === false)
      return serializeError(`What the tool returned is not what its output says.\n${fits.error}`);
    return serializeReturned(isResult(returned) || fits === undefined ? returned : fits.value, this.#parts);
  }

  #reportBegun(id: number): void {
    this.#lastBegun = id;
    this.#parts.host.send({ kind: 'begun', id });
  }

  #contextOf(id: number): ToolContext {
    const signal = this.#running.get(id)?.aborting.signal ?? AbortSignal.abort();
    const notes = (): CallNotes | undefined => this.#running.get(id)?.notes;
    return {
      signal,
      progress: (progress, total, message) => {
        if (!Number.isFinite(progress)) throw new TypeError('ctx.progress wants a number first');
        notes()?.progress({
          progress,
          total: Number.isFinite(total) ? total : undefined,
          message:
            message === undefined ? undefined : truncateText(tryToString(() => message) ?? '', NOTE_LIMIT),
        });
      },
      log: (level, data) =>
        notes()?.log(tryToString(() => level)?.slice(0, 100) ?? 'info', () => bounded(data)),
      ask: (question) => this.#ask(id, question),
    };
  }

  #ask(call: number, { message, schema }: Question): Promise<Answer> {
    const { host, writeZod } = this.#parts;
    const read = readSchema(schema, { side: 'input', part: 'answer', writeZod });
    if (!read.ok) return Promise.reject(new TypeError(`ctx.ask got a schema that ${read.error}`));
    const running = this.#running.get(call);
    if (running?.aborting.signal.aborted !== false)
      return Promise.reject(new Error('Cannot ask: the call has ended.'));
    if (running.asking >= OPEN_ASKS)
      return Promise.reject(new Error(`${OPEN_ASKS} questions of this call are open, and no more may be.`));
    const { $schema, ...json } = read.value.json;
    const id = ++this.#lastAsk;
    running.asking += 1;
    const answered = new Promise<AskAnswer>((resolve) => this.#asks.set(id, resolve));
    host.send({ kind: 'ask', id, call, message: tryToString(() => message) ?? '', schema: json });
    return answered.then((answer) => {
      running.asking -= 1;
      if (!answer.ok) throw new Error(answer.error);
      return answer.value as unknown as Answer; // `elicitation/create` has no other result
    });
  }
}

function structuredOf(returned: unknown): unknown {
  if (isResult(returned)) return (returned as { readonly structuredContent?: unknown }).structuredContent;
  return isRecord(returned) ? returned : undefined;
}

function isErrorResult(returned: unknown): boolean {
  return (returned as { readonly isError?: unknown }).isError === true;
}

function bounded(data: unknown): unknown {
  const json = tryTo(() => stringify(data) as string | undefined); // undefined for a function or symbol
  if (json === undefined) return 'something that cannot be written as JSON';
  return json.length > NOTE_LIMIT ? shorten(json, NOTE_LIMIT) : (parse(json) as unknown);
}

interface Progress {
  readonly progress: number;
  readonly total: number | undefined;
  readonly message: string | undefined;
}

/** Progress and logs of one call, limited per second. Keeps the last progress, but the first logs. */
class CallNotes {
  readonly #id: number;
  readonly #host: Host;
  readonly #progressRate = createRate();
  readonly #logRate = createRate();
  #heldBack: Progress | undefined;
  #leftOut = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(id: number, host: Host) {
    this.#id = id;
    this.#host = host;
  }

  progress(progress: Progress): void {
    this.#heldBack = progress;
    if (this.#progressRate.take(nowMs())) this.#sendProgress();
    else this.#timer ??= setTimeout(() => this.#sendProgress(), SPAN_MS / NOTES_PER_SECOND).unref();
  }

  /** Evaluates `data` only if it is sent. */
  log(level: string, data: () => unknown): void {
    if (!this.#logRate.take(nowMs())) {
      this.#leftOut += 1;
      return;
    }
    this.#reportDropped();
    this.#host.send({ kind: 'log', id: this.#id, level, data: data() });
  }

  /** Sends what was held back. */
  end(): void {
    this.#sendProgress();
    this.#reportDropped();
  }

  #sendProgress(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const last = this.#heldBack;
    this.#heldBack = undefined;
    if (last !== undefined) this.#host.send({ kind: 'progress', id: this.#id, ...last });
  }

  #reportDropped(): void {
    const count = this.#leftOut;
    this.#leftOut = 0;
    if (count === 0) return;
    const data = `${count} notes were left out: a call tells ${NOTES_PER_SECOND} a second at most`;
    this.#host.send({ kind: 'log', id: this.#id, level: 'warning', data });
  }
}

const SPAN_MS = 1_000;

function createRate(): TokenBucket {
  return new TokenBucket({ perSecond: NOTES_PER_SECOND, capacity: NOTES_PER_SECOND, nowMs: nowMs() });
}
