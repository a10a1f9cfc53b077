import { request } from 'node:http';
import { sleep } from './endings.ts';
import { at, parseJson, type Json, type JsonObject } from './json.ts';
import { BOTH } from './legacy.ts';
import { envelope, META, modernHeaders } from './modern.ts';
import { CAN } from './questions.ts';

/** Maximum time in ms, on a busy machine, until a request is answered or its stream ends. */
const BOUND_MS = 15_000;
/** Maximum number of server request rounds in one call. */
const MAX_ROUNDS = 4;

export interface TrialOptions {
  /** Where its requests go; possibly a faulty proxy. */
  readonly url: string;
  /** Where its cleanup request goes, bypassing any proxy. */
  readonly direct: string;
  /** Its name, which all its messages contain. */
  readonly mark: string;
  readonly tool: string;
}

/** Result of a short exchange: a handshake, a list, a call with a server request, its answer, a result. */
export interface Trial {
  readonly mark: string;
  /** Requests that were neither answered nor cut off in time. */
  readonly hung: readonly string[];
  /** Messages that this client should not have received. */
  readonly wrong: readonly string[];
  /** Whether it completed successfully. */
  readonly isDone: boolean;
}

/** One client of a trial. */
class Wire {
  readonly hung: string[] = [];
  readonly wrong: string[] = [];
  readonly #options: TrialOptions;
  isDead = false;
  #lastId = 0;

  constructor(options: TrialOptions) {
    this.#options = options;
  }

  /** Sends a request; returns its response, if any, and the session. Server requests go to `onServerRequest`. */
  async ask(
    body: JsonObject,
    headers: JsonObject,
    onServerRequest?: (question: Json) => void,
  ): Promise<Outcome> {
    const id = (this.#lastId += 1);
    return this.#send({ jsonrpc: '2.0', id, ...body }, headers, onServerRequest);
  }

  async say(body: JsonObject, headers: JsonObject): Promise<Outcome> {
    return this.#send({ jsonrpc: '2.0', ...body }, headers);
  }

  async #send(
    body: JsonObject,
    headers: JsonObject,
    onServerRequest?: (question: Json) => void,
  ): Promise<Outcome> {
    const { url } = this.#options;
    if (this.isDead) return { response: undefined, session: undefined };
    const sent = exchange(url, { body: JSON.stringify(body), headers }, (message) => {
      this.#onMessage(message, body, onServerRequest);
    });
    const outcome = await Promise.race([sent, sleep(BOUND_MS).then(() => undefined)]);
    if (outcome === undefined) this.hung.push(JSON.stringify(body));
    return outcome ?? { response: undefined, session: undefined };
  }

  #onMessage(message: Json, asked: JsonObject, onServerRequest?: (question: Json) => void): void {
    const text = JSON.stringify(message);
    const marks = text.match(/trial-\d+\|\w+\|\d+/g) ?? [];
    const isForeign = marks.some((mark) => mark !== this.#options.mark);
    const isQuestion = at(message, 'method') === 'elicitation/create';
    const isAnswer = at(message, 'method') === undefined;
    if (isForeign || (isAnswer && at(message, 'id') !== asked['id'])) this.wrong.push(text);
    if (isQuestion && !isForeign) onServerRequest?.(message);
  }
}

interface Outcome {
  readonly response: Json | undefined;
  readonly session: string | undefined;
}

/** Resolves when the answer has ended, successfully or not. */
function exchange(
  url: string,
  { body, headers }: { readonly body: string; readonly headers: JsonObject },
  onMessage: (message: Json) => void,
): Promise<Outcome> {
  return new Promise((resolve) => {
    let response: Json | undefined;
    let session: string | undefined;
    const asked = request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: BOTH, ...(headers as Record<string, string>) },
      agent: false,
    });
    const end = (): void => resolve({ response, session });
    const take = (text: string): void => {
      if (text === '') return;
      const message = parseJson(text);
      onMessage(message);
      if (at(message, 'method') === undefined) response ??= message;
    };
    asked.on('error', end);
    asked.on('close', end);
    asked.on('response', (answer) => {
      let rest = '';
      const isStream = answer.headers['content-type'] === 'text/event-stream';
      session = answer.headers['mcp-session-id']?.toString();
      answer.setEncoding('utf8');
      answer.on('error', end);
      answer.on('data', (text: string) => {
        rest += text;
        if (!isStream) return;
        const blocks = rest.split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) take(/^data: (.*)$/m.exec(block)?.[1] ?? '');
      });
      answer.on('end', () => {
        if (!isStream) take(rest);
        end();
      });
      answer.on('close', end);
    });
    asked.end(body);
  });
}

const formOf = (mark: string): JsonObject => ({
  method: 'elicitation/create',
  params: { message: mark, requestedSchema: { type: 'object', properties: {} } },
});

function callOf({ mark, tool }: TrialOptions): { readonly name: string; readonly arguments: JsonObject } {
  return { name: tool, arguments: { rounds: [[formOf(mark)]] } };
}

const answerOf = ({ mark }: TrialOptions): JsonObject => ({ action: 'accept', content: { by: mark } });

function isGood(response: Json | undefined, options: TrialOptions): boolean {
  const text = at(response, 'result', 'content', 0, 'text');
  return text === JSON.stringify([{ result: answerOf(options) }]);
}

/** A legacy client, done when its session is deleted. `dies` gets a function that makes it vanish without closing. */
export async function legacyTrial(options: TrialOptions, dies: (die: () => void) => void): Promise<Trial> {
  const { mark } = options;
  const wire = new Wire(options);
  dies(() => (wire.isDead = true));
  const clientInfo = { name: mark, version: '1' };
  const first = await wire.ask(
    { method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: CAN, clientInfo } },
    {},
  );
  const { session } = first;
  // Without a handshake it cannot go on.
  if (session === undefined) return { mark, hung: wire.hung, wrong: wire.wrong, isDone: false };
  const headers: JsonObject = { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session };
  await wire.say({ method: 'notifications/initialized' }, headers);
  await wire.ask({ method: 'tools/list', params: {} }, headers);
  const called = await wire.ask({ method: 'tools/call', params: callOf(options) }, headers, (question) => {
    void wire.say({ id: at(question, 'id') ?? null, result: answerOf(options) }, headers);
  });
  if (!wire.isDead) await wire.ask({ method: 'ping' }, headers);
  // For a vanished client, the idle timeout has the same effect as this deletion.
  await remove(options.direct, headers);
  return { mark, hung: wire.hung, wrong: wire.wrong, isDone: isGood(called.response, options) };
}

function remove(url: string, headers: JsonObject): Promise<void> {
  return new Promise((resolve) => {
    const asked = request(url, {
      method: 'DELETE',
      headers: headers as Record<string, string>,
      agent: false,
    });
    asked.on('response', (answer) => answer.resume());
    asked.on('error', () => resolve());
    asked.on('close', () => resolve());
    asked.end();
  });
}

/** A modern client, which keeps only the state that it sends back. */
export async function modernTrial(options: TrialOptions, dies: (die: () => void) => void): Promise<Trial> {
  const wire = new Wire(options);
  dies(() => (wire.isDead = true));
  const _meta = envelope({
    [`${META}clientInfo`]: { name: options.mark, version: '1' },
    [`${META}clientCapabilities`]: CAN,
  });
  const ask = (method: string, params: JsonObject = {}): Promise<Outcome> =>
    wire.ask({ method, params: { ...params, _meta } }, modernHeaders(method, params));
  await ask('server/discover');
  await ask('tools/list');
  const call = callOf(options);
  let last = await ask('tools/call', call);
  // A call that reached its server twice asks twice, and the second server request may come after the first was passed
  // on.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const requestState = at(last.response, 'result', 'requestState');
    if (requestState === undefined) break;
    const keys = Object.keys((at(last.response, 'result', 'inputRequests') ?? {}) as JsonObject);
    const inputResponses = Object.fromEntries(keys.map((key) => [key, answerOf(options)]));
    last = await ask('tools/call', { ...call, inputResponses, requestState });
  }
  return {
    mark: options.mark,
    hung: wire.hung,
    wrong: wire.wrong,
    isDone: isGood(last.response, options),
  };
}

export const TRIALS: Readonly<Record<'legacy' | 'modern', typeof legacyTrial>> = {
  legacy: legacyTrial,
  modern: modernTrial,
};
