import type { FunctionResult } from '@assay-mcp/functions/function-messages';
import { TokenBucket } from '@assay-mcp/kit/token-bucket';
import { type BuiltInCall, type BuiltInResult, toErrorResult } from '../built-in-tool.ts';

export interface CallInFlight {
  readonly id: number;
  readonly tool: string;
  readonly call: BuiltInCall;
  /** Cancelled by the caller, but still running. */
  isOver: boolean;
  hasBegun: boolean;
  /** Open server requests. */
  asking: number;
  readonly messages: TokenBucket;
  readonly settle: (result: BuiltInResult) => void;
}

/** Far more messages than the runner allows, as delayed ones arrive all at once. */
const MESSAGES_PER_SECOND = 1_000;

/** The calls that one process works on, and which of them blocks the others. */
export class CallsInFlight {
  readonly #calls = new Map<number, CallInFlight>();
  #lastId = 0;
  #lastBegun: CallInFlight | undefined;

  get size(): number {
    return this.#calls.size;
  }

  get(id: number): CallInFlight | undefined {
    return this.#calls.get(id);
  }

  add(entry: Pick<CallInFlight, 'tool' | 'call' | 'settle'>): CallInFlight {
    const id = ++this.#lastId;
    const messages = new TokenBucket({
      perSecond: MESSAGES_PER_SECOND,
      capacity: MESSAGES_PER_SECOND,
      nowMs: performance.now(),
    });
    const added = { ...entry, id, isOver: false, hasBegun: false, asking: 0, messages };
    this.#calls.set(added.id, added);
    return added;
  }

  begun(id: number): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    call.hasBegun = true;
    this.#lastBegun = call;
  }

  /** Whether a call sends more messages than the runner would allow. */
  tellsTooMuch(id: number, nowMs: number): boolean {
    return this.#calls.get(id)?.messages.take(nowMs) === false;
  }

  done(id: number, result: FunctionResult): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    call?.settle(result);
  }

  /** Drops a call that does not end and blocks nothing. */
  forget(id: number): void {
    this.#calls.delete(id);
  }

  /** The running tool that began last: a tool that blocks its process mostly does so before its first await. */
  get blocker(): string | undefined {
    const last = this.#lastBegun;
    const begun = [...this.#calls.values()].filter(({ hasBegun }) => hasBegun);
    return (last !== undefined && this.#calls.has(last.id) ? last : begun.at(-1))?.tool;
  }

  /** Ends all calls with an error. */
  endAll(textFor: (tool: string) => string): void {
    const all = [...this.#calls.values()];
    this.#calls.clear();
    for (const { tool, settle } of all) settle(toErrorResult(textFor(tool)));
  }
}
