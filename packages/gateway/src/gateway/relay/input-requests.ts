import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Refusal } from '../../core/refusal.ts';
import type { RequestMessage } from '@assay-mcp/protocol/message';
import { toLegacyRequest, readInputRequired, buildRetry } from '@assay-mcp/protocol/server-requests';
import { asksForInput } from '@assay-mcp/protocol/translate';
import type { Call } from './call.ts';
import { pause } from './send-again.ts';
import type { ServerRequest, ServerRequestAnswer, Reply } from '../ports/link.ts';
import { computeBackoffMs } from '@assay-mcp/kit/backoff';

export interface InputResolution {
  readonly call: Call;
  readonly server: string;
  /** Sends the call again. */
  readonly retry: () => Promise<Result<Reply, Refusal>>;
}

/** Limits how often a server may ask again. */
const MAX_ROUNDS = 10;
/** Initial delay in ms for a server that only wants a retry; it doubles. */
const FIRST_WAIT_MS = 50;

/**
 * Asks a legacy client for the input that a modern server requires, and retries the call with the answers until there
 * is a result (2026-07-28, basic/patterns/mrtr). SERVER_ASKS, QUESTION_UNANSWERED, CANCELLED.
 */
export async function resolveInputRequests(
  { call, server, retry }: InputResolution,
  first: Reply,
): Promise<Result<Reply, Refusal>> {
  const original = call.message;
  let reply = first;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const wanted = readInputRequired(reply.message);
    if (wanted === undefined)
      return err({ code: 'SERVER_ASKS', server, reason: 'but its request is malformed' });
    if (wanted.requests.length === 0)
      await pause(computeBackoffMs(round + 1, { firstMs: FIRST_WAIT_MS }), call);
    const answers = await askAll(call, server, wanted.requests);
    if (!answers.ok) return answers;
    const again = buildRetry(original, { responses: answers.value, state: wanted.state });
    if (again === undefined) return err({ code: 'INTERNAL' });
    call.message = again;
    const next = await retry();
    if (!next.ok || !asksForInput(next.value.message)) return next;
    reply = next.value;
  }
  return err({ code: 'SERVER_ASKS', server, reason: `and asks again after each of ${MAX_ROUNDS} answers` });
}

type Requests = readonly { readonly key: string; readonly message: RequestMessage }[];
type Responses = readonly { readonly key: string; readonly text: string }[];

/** Sends all requests at once; the first one unanswered ends the others. */
async function askAll(call: Call, server: string, requests: Requests): Promise<Result<Responses, Refusal>> {
  const asked = requests.map(({ key, message }) => ({ key, request: new InputRequest(message) }));
  const withdraw = (): void => asked.forEach(({ request }) => request.withdraw());
  const answers = asked.map(async ({ key, request }) => {
    if (call.client.ask === undefined) request.answer(NOBODY);
    else call.client.ask(request);
    const answer = await request.answered;
    if (answer?.kind === 'result') return { key, text: answer.text };
    const { method } = request.message;
    throw answer === undefined
      ? new Unanswered({ code: 'CANCELLED' })
      : new Unanswered({ code: 'QUESTION_UNANSWERED', server, method, reason: reasonIn(answer.text) });
  });
  try {
    return ok(await call.cancellation.during(withdraw, Promise.all(answers)));
  } catch (error) {
    if (error instanceof Unanswered) return err(error.refusal);
    throw error;
  } finally {
    withdraw();
  }
}

/** Asks a legacy client one question during its call. Undefined if the call was cancelled meanwhile. */
export async function askClient(
  call: Call,
  message: RequestMessage,
): Promise<ServerRequestAnswer | undefined> {
  const request = new InputRequest(message);
  if (call.client.ask === undefined) return NOBODY;
  call.client.ask(request);
  return call.cancellation.during(() => request.withdraw(), request.answered);
}

/** Shows a legacy client something that needs no answer, until the returned function withdraws it. */
export function showClient(call: Call, message: RequestMessage): () => void {
  const request = new InputRequest(message);
  call.client.ask?.(request);
  return () => request.withdraw();
}

/** Ends the wait for the other answers. */
class Unanswered extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

const NOBODY: ServerRequestAnswer = { kind: 'error', text: '{"message":"this client cannot be asked"}' };

/** A server request contained in a result of a modern server. */
class InputRequest implements ServerRequest {
  readonly message: RequestMessage;
  /** Undefined if it was withdrawn. */
  readonly answered: Promise<ServerRequestAnswer | undefined>;
  readonly #settle: (answer: ServerRequestAnswer | undefined) => void;
  #isOver = false;
  #listener: (() => void) | undefined;

  constructor(message: RequestMessage) {
    this.message = toLegacyRequest(message, crypto.randomUUID());
    const { promise, resolve } = Promise.withResolvers<ServerRequestAnswer | undefined>();
    this.answered = promise;
    this.#settle = resolve;
  }

  answer(answer: ServerRequestAnswer): void {
    this.#isOver = true;
    this.#settle(answer);
  }

  progress(): void {
    // In the modern era, nothing is sent to a server between two requests.
  }

  onWithdrawn(listener: (() => void) | undefined): void {
    this.#listener = listener;
  }

  withdraw(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#settle(undefined);
    this.#listener?.();
  }
}

function reasonIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === 'string' ? message : 'its error has no message';
  } catch {
    return 'its error cannot be read';
  }
}
