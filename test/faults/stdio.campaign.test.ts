import { describe, expect, it } from 'vitest';
import { rounds } from '../support/campaign.ts';
import { isAlive, kill, sleep, until } from '../support/endings.ts';
import { DELAY_MS, FaultSequence, FAULTS, type Plan } from '../support/fault-plan.ts';
import { at, parseJson, type Json, type JsonObject } from '../support/json.ts';
import { envelope, META } from '../support/modern.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, openEventLog } from '../support/paths.ts';
import { CAN, formOf } from '../support/questions.ts';
import { seeded } from '../support/seeded.ts';
import { spawnStdio, type Pipe } from '../support/stdio.ts';

/** Timeout in ms of everything that Assay waits for here. */
const LIMIT_MS = scaledMs(1_500);
/** The same for plans that lose no message, in which no timeout may expire. */
const DELAYED_LIMIT_MS = 30_000;
/** Maximum time in ms until a request is answered, on a busy machine. */
const BOUND_MS = 15_000;
const AT_A_TIME = 4;
const ERAS = ['legacy', 'modern'] as const;
type Era = (typeof ERAS)[number];
const MESSAGES = { legacy: 9, modern: 8 } as const;
const ACCEPTED = { action: 'accept', content: { by: 'me' } };
const SCRIPT: readonly (readonly [method: string, params: JsonObject])[] = [
  ['tools/list', {}],
  ['tools/call', { name: 's_ask', arguments: { rounds: [[formOf('Who?')]] } }],
];

const chance = seeded('faults on a line');

function limitOf({ fault }: Plan): number {
  return fault === 'delay' ? DELAYED_LIMIT_MS : LIMIT_MS;
}

/** The client's end of a faulty connection. */
class FaultyConnection {
  readonly #pipe: Pipe;
  readonly #limitMs: number;
  readonly #faults: FaultSequence;
  readonly #reading: NodeJS.Timeout;
  readonly #answers = new Map<string, Json>();
  #read = 0;
  isOver = false;
  /** Requests that reached Assay. */
  readonly delivered: string[] = [];
  onServerRequest: (question: Json) => void = () => undefined;

  constructor(pipe: Pipe, plan: Plan) {
    this.#pipe = pipe;
    this.#limitMs = limitOf(plan);
    this.#faults = new FaultSequence(plan);
    this.#reading = setInterval(() => this.#take(), 5);
  }

  send(message: JsonObject): void {
    this.#applyFault(() => {
      if (this.isOver) return;
      if ('method' in message && 'id' in message) this.delivered.push(String(message['id']));
      this.#pipe.send(message);
    });
  }

  /** The response, or undefined once it is clear that none will arrive. */
  async ask(id: string, message: JsonObject): Promise<Json | undefined> {
    this.send({ jsonrpc: '2.0', id, ...message });
    const endMs = Date.now() + 4 * this.#limitMs;
    while (!this.#answers.has(id) && !this.isOver && Date.now() < endMs) await sleep(5);
    return this.#answers.get(id);
  }

  close(): void {
    clearInterval(this.#reading);
  }

  #take(): void {
    const lines = this.#pipe.lines();
    for (const line of lines.slice(this.#read)) {
      this.#applyFault(() => {
        const message = parseJson(line);
        if (at(message, 'method') === 'elicitation/create') this.onServerRequest(message);
        else if (at(message, 'method') === undefined) this.#answers.set(String(at(message, 'id')), message);
      });
    }
    this.#read = lines.length;
  }

  #applyFault(pass: () => void): void {
    switch (this.#faults.next()) {
      case 'pass':
        pass();
        return;
      case 'lose':
        return;
      case 'delay':
        setTimeout(pass, DELAY_MS);
        return;
      case 'duplicate':
        pass();
        pass();
        return;
      case 'cut':
        this.isOver = true;
        this.#pipe.closeStdin();
        return;
      case 'kill':
        this.isOver = true;
        kill(this.#pipe.pid, 'SIGKILL');
    }
  }
}

/** The exchange of a legacy client, as far as it gets. */
async function playLegacy(line: FaultyConnection): Promise<Json | undefined> {
  line.onServerRequest = (question) =>
    line.send({ jsonrpc: '2.0', id: at(question, 'id') ?? null, result: ACCEPTED });
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: CAN,
    clientInfo: { name: 'line', version: '1' },
  };
  if ((await line.ask('first', { method: 'initialize', params })) === undefined) return undefined;
  line.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  let last: Json | undefined;
  for (const [method, given] of SCRIPT) last = await line.ask(method, { method, params: given });
  return last;
}

async function playModern(line: FaultyConnection): Promise<Json | undefined> {
  const _meta = envelope({ [`${META}clientCapabilities`]: CAN });
  await line.ask('first', { method: 'server/discover', params: { _meta } });
  let last: Json | undefined;
  for (const [method, given] of SCRIPT)
    last = await line.ask(method, { method, params: { ...given, _meta } });
  const requestState = at(last, 'result', 'requestState');
  if (requestState === undefined) return last;
  const keys = Object.keys((at(last, 'result', 'inputRequests') ?? {}) as JsonObject);
  const inputResponses = Object.fromEntries(keys.map((key) => [key, ACCEPTED]));
  const [method, given] = SCRIPT[1] ?? expect.unreachable();
  return line.ask('retry', { method, params: { ...given, _meta, inputResponses, requestState } });
}

/** Runs one process of Assay with one client and one server, from start to exit. */
async function tryOut(client: Era, server: Era, plan: Plan): Promise<void> {
  const eventLog = openEventLog();
  const pipe = spawnStdio({
    servers: {
      s: fixture('asking', [`--era=${server}`], { env: eventLog.env, timeoutMs: limitOf(plan) * 4 }),
    },
    settings: { settings: { 'limits.questionMs': limitOf(plan) } },
  });
  const what = JSON.stringify({ client, server, plan });
  const line = new FaultyConnection(pipe, plan);
  const last = await (client === 'legacy' ? playLegacy(line) : playModern(line));
  if (plan.fault === 'delay')
    expect([what, at(last, 'result', 'content', 0, 'text')]).toEqual([
      what,
      JSON.stringify([{ result: ACCEPTED }]),
    ]);
  // Assay answers every request that reached it, whether or not the response arrives.
  if (!line.isOver)
    for (const id of line.delivered)
      await until(
        `${what}: the answer to ${id}; it said ${pipe.lines().join('\n')}`,
        () => (pipe.lines().some((one) => at(parseJson(one), 'id') === id) ? true : undefined),
        BOUND_MS,
      );
  line.close();
  pipe.closeStdin();
  const code = await Promise.race([pipe.ended, sleep(scaledMs(BOUND_MS)).then(() => 'still there')]);
  if (plan.fault !== 'kill') expect([what, code]).toEqual([what, 0]);
  await until(
    `${what}: no server is left`,
    () => (eventLog.read('start').some(({ pid }) => isAlive(pid)) ? undefined : true),
    BOUND_MS,
  );
}

const PAIRS = ERAS.flatMap((client) => ERAS.map((server) => ({ client, server })));

describe.for(PAIRS)('a $client client and a $server server over pipes', ({ client, server }) => {
  it('finish every call whatever happens to a message, and leave no process running', async () => {
    const plans = FAULTS.flatMap((fault) =>
      Array.from({ length: MESSAGES[client] }, (_, at): Plan => ({ fault, at })),
    );
    const left = chance.shuffled(plans).slice(0, rounds({ short: 3, long: plans.length }));
    const work = async (): Promise<void> => {
      for (let plan = left.pop(); plan !== undefined; plan = left.pop()) await tryOut(client, server, plan);
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
  });
});
