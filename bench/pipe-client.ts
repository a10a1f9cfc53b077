// A client on raw pipes: newline-delimited JSON-RPC, written and parsed without an SDK.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Era, outgoing } from './messages.ts';
import { signalGroup } from './processes.ts';

const ANSWER_WITHIN_MS = 60_000;
const STDERR_KEPT = 2_000;

/** A message from the server, parsed. */
export interface Received {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export class PipeClient {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves when the process has ended, with its exit code or signal. */
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly #waiting = new Map<number, (heard: Received) => void>();
  readonly #answered = new Set<unknown>();
  #unfinished = '';
  #stderr = '';
  #lastId = 0;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child;
    this.ended = once(child, 'exit').then(
      ([code, signal]) => (signal as NodeJS.Signals | null) ?? (code as number),
    );
    child.stdout.setEncoding('utf8').on('data', (text: string) => this.#hear(text));
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + String(chunk)).slice(-STDERR_KEPT);
    });
  }

  /** Sends a request and returns the whole answer; rejects if there is none. */
  async ask(method: string, params: object, era: Era = 'legacy'): Promise<Received> {
    const { answer } = this.begin(method, params, era);
    const limit = new AbortController();
    try {
      return await Promise.race([
        answer,
        this.ended.then((how) => this.#fail(`it ended with ${String(how)} instead of answering ${method}`)),
        sleep(ANSWER_WITHIN_MS, undefined, limit).then(() => this.#fail(`no answer to ${method}`)),
      ]);
    } finally {
      limit.abort();
    }
  }

  /** Sends a request without waiting. */
  begin(method: string, params: object, era: Era = 'legacy'): { id: number; answer: Promise<Received> } {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<Received>((resolve) => this.#waiting.set(id, resolve));
    this.#write(outgoing({ era, method, params: { ...params }, id }).body);
    return { id, answer };
  }

  notify(method: string, params: object = {}): void {
    this.#write(outgoing({ era: 'legacy', method, params: { ...params } }).body);
  }

  hasAnswered(id: number): boolean {
    return this.#answered.has(id);
  }

  /** Names of all tools, over all pages. */
  async tools(era: Era = 'legacy'): Promise<readonly string[]> {
    const names: string[] = [];
    let cursor: unknown;
    do {
      const { result } = await this.ask('tools/list', cursor === undefined ? {} : { cursor }, era);
      const tools = result?.['tools'];
      if (!Array.isArray(tools)) this.#fail('tools/list brought no tools');
      names.push(...(tools as readonly { name: string }[]).map(({ name }) => name));
      cursor = result?.['nextCursor'];
    } while (cursor !== undefined);
    return names;
  }

  /** Closes its stdin, and after `waitMs` kills it with its process group. */
  async end(waitMs: number): Promise<number | NodeJS.Signals> {
    this.child.stdin.end();
    const patience = new AbortController();
    const kill = sleep(waitMs, undefined, patience).then(
      () => signalGroup(this.child, 'SIGKILL'),
      () => undefined,
    );
    const how = await this.ended;
    patience.abort();
    await kill;
    return how;
  }

  #write(message: string): void {
    this.child.stdin.write(`${message}\n`);
  }

  #hear(text: string): void {
    const lines = (this.#unfinished + text).split('\n');
    this.#unfinished = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') continue;
      const heard = JSON.parse(line) as Received;
      if (heard.method !== undefined || typeof heard.id !== 'number') continue;
      this.#answered.add(heard.id);
      this.#waiting.get(heard.id)?.(heard);
      this.#waiting.delete(heard.id);
    }
  }

  #fail(reason: string): never {
    throw new Error(`${reason}. ${this.#stderr.trim()}`);
  }
}
