// The load: clients that stay for the whole run, and clients that come and go.
import type { Chance } from '../chance.ts';
import { pause } from '../soak-context.ts';
import type { Tally } from '../tally.ts';
import { type CallRecord, type CountedTool, judgeFailure, type Outcome, TOOLS } from './calls.ts';
import { readFailure } from './failure.ts';
import { type ClientKind, connectSdkClient, type SdkClient } from './sdk-clients.ts';

/** PostgreSQL is away for 30 s, and replicas that start meanwhile wait for it. */
const CALL_WITHIN_MS = 150_000;
const CONNECT_WITHIN_MS = 90_000;
const PAUSE_MS = [20, 250] as const;
const REPEAT_AFTER_MS = [100, 1_000] as const;
const MAX_WORK_MS = 400;

export interface Load {
  readonly endpoint: string;
  readonly token: string;
  readonly tally: Tally;
  readonly over: AbortSignal;
  readonly records: CallRecord[];
}

export class Caller {
  readonly name: string;
  readonly kind: ClientKind;
  isConnected = false;
  restarts = 0;
  readonly #load: Load;
  readonly #chance: Chance;
  #client: SdkClient | undefined;
  #calls = 0;
  #lostAnswers = 0;

  constructor(name: string, kind: ClientKind, { load, chance }: { load: Load; chance: Chance }) {
    this.name = name;
    this.kind = kind;
    this.#load = load;
    this.#chance = chance.fork(name);
  }

  get changes(): number {
    return this.#client?.changes() ?? 0;
  }

  /** A host program tries again if no connection can be made; any other error is shown to its user. */
  async connect(): Promise<void> {
    const { endpoint: url, token, tally } = this.#load;
    const onError = ({ message }: Error): void => {
      if (message.startsWith('Failed to send response')) this.#lostAnswers += 1;
      const [start = ''] = message.split(/[\n{]/);
      tally.count(`${this.kind}, reported by the SDK`, start.slice(0, 120));
    };
    const untilMs = performance.now() + CONNECT_WITHIN_MS;
    for (;;) {
      try {
        this.#client = await connectSdkClient(this.kind, { url, token, onError });
        this.isConnected = true;
        return;
      } catch (error) {
        const failure = readFailure(error);
        const mayTry = failure.kind !== 'session_lost' && failure.kind !== 'other';
        const told = `${failure.kind}${'code' in failure ? ` ${failure.code}` : ''}`;
        tally.count(`connect ${this.kind}`, told);
        if (!mayTry || performance.now() > untilMs) {
          tally.object(`${this.name}, connect`, 'text' in failure ? failure.text : told);
          return;
        }
      }
      await pause(this.#chance.between(...REPEAT_AFTER_MS), new AbortController().signal);
    }
  }

  /** Calls until the run is over, or this many times. */
  async callThrough(times: number = Infinity): Promise<void> {
    for (let left = times; left > 0 && this.isConnected && !this.#load.over.aborted; left -= 1) {
      await this.#callOnce(this.#chance.pick(TOOLS));
      await pause(this.#chance.between(...PAUSE_MS), this.#load.over);
    }
  }

  async close(): Promise<void> {
    await this.#client?.close().catch(() => undefined);
  }

  async #callOnce(tool: CountedTool): Promise<void> {
    const { tally, records } = this.#load;
    this.#calls += 1;
    tally.calls += 1;
    const key = `${this.name.replaceAll(' ', '-')}:${String(this.#calls)}`;
    const ms = this.#chance.between(0, MAX_WORK_MS);
    const startMs = performance.now();
    let attempts = 0;
    let timeouts = 0;
    const lostBefore = this.#lostAnswers;
    const end = (outcome: Outcome): void => {
      const tookMs = performance.now() - startMs;
      const isAnswerLost = this.#lostAnswers > lostBefore;
      records.push({ client: this.name, tool, key, outcome, attempts, timeouts, isAnswerLost, tookMs });
      tally.count(`${this.kind} ${tool.name}`, attempts > 1 ? `${outcome.kind}, repeated` : outcome.kind);
    };
    let last = '';
    while (performance.now() - startMs < CALL_WITHIN_MS && this.isConnected && this.#client !== undefined) {
      attempts += 1;
      try {
        const text = await this.#client.call(tool.name, { key, ms });
        end(text.startsWith('not a result') ? { kind: 'wrong', text } : { kind: 'answered', text });
        return;
      } catch (error) {
        const failure = readFailure(error);
        last = `${failure.kind} ${'code' in failure ? failure.code : ''}`.trim();
        tally.count(`${this.kind}, attempt`, last);
        if (failure.kind === 'timed_out') timeouts += 1;
        if (failure.kind === 'session_lost') await this.#restart(failure.text);
        const outcome = judgeFailure(failure, tool);
        if (outcome !== 'repeat') {
          end(outcome);
          return;
        }
      }
      await pause(this.#chance.between(...REPEAT_AFTER_MS), new AbortController().signal);
    }
    end({ kind: 'lost', last });
  }

  /** What a person would do; it counts as a failure of the gateway. */
  async #restart(reason: string): Promise<void> {
    this.restarts += 1;
    this.#load.tally.object(`${this.name}, started again`, reason);
    await this.close();
    this.isConnected = false;
    await this.connect();
  }
}

/** Several of each kind, connected before the faults begin. */
export function createCallers(kinds: readonly ClientKind[], of: { load: Load; chance: Chance }): Caller[] {
  return kinds.flatMap((kind) =>
    ['a', 'b', 'c']
      .slice(0, kind === '2.x auto' ? 1 : 3)
      .map((one) => new Caller(`${kind} ${one}`, kind, of)),
  );
}

/** Clients that connect, call a few times and end, while replicas come and go. */
export async function visit(
  kinds: readonly ClientKind[],
  { load, chance }: { readonly load: Load; readonly chance: Chance },
): Promise<readonly Caller[]> {
  const visitors: Caller[] = [];
  while (!load.over.aborted) {
    const kind = chance.pick(kinds);
    const visitor = new Caller(`${kind} visitor ${String(visitors.length)}`, kind, { load, chance });
    visitors.push(visitor);
    await visitor.connect();
    await visitor.callThrough(chance.between(1, 10));
    await visitor.close();
    await pause(chance.between(200, 2_000), load.over);
  }
  return visitors;
}
