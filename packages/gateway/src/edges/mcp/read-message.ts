import type { IncomingMessage } from 'node:http';
import type { BodyBudget, BodyReservation } from '../../core/body-budget.ts';
import { CollectedBytes } from '@assay-mcp/kit/collected-bytes';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { guardCallback, type Peer } from '@assay-mcp/kit/platform/guarded';
import { runInTurns, runLater, waitForTurn } from '@assay-mcp/kit/turns';
import {
  findJsonFault,
  LARGE_MESSAGE,
  createMessageReader,
  type Message,
  type NoMessage,
  readClientMessage,
  type RequestMessage,
} from '@assay-mcp/protocol/message';
import { ArrayScan } from '@assay-mcp/protocol/scan';

/**
 * Parses a client message. Large messages take several turns of the event loop, so that other clients are served
 * meanwhile.
 */
export function readFromClient(bytes: Buffer): Message | NoMessage | Promise<Message | NoMessage> {
  return bytes.length > LARGE_MESSAGE
    ? runInTurns(createMessageReader(bytes, 'client'))
    : readClientMessage(bytes);
}

export const MAX_IN_BATCH = 100;
const STEP_BYTES = 256 * 1024;

/** Reads the messages of a batch; the refusal says why it is invalid. */
export async function readBatch(bytes: Buffer): Promise<Result<readonly (Message | NoMessage)[], Refusal>> {
  const scan = new ArrayScan(bytes, MAX_IN_BATCH);
  const found = scan.step(STEP_BYTES) ?? (await runInTurns(() => scan.step(STEP_BYTES)));
  if ('reason' in found)
    return found.isJson
      ? err({ code: 'MESSAGE_INVALID', reason: `a batch has 1 to ${MAX_IN_BATCH} messages` })
      : err({ code: 'MESSAGE_NOT_JSON', reason: 'not a JSON array' });
  const messages: (Message | NoMessage)[] = [];
  let bytesInTurn = 0;
  for (const { start, end } of found) {
    bytesInTurn += end - start;
    if (bytesInTurn > STEP_BYTES) {
      bytesInTurn = end - start;
      await waitForTurn();
    }
    messages.push(await readFromClient(bytes.subarray(start, end)));
  }
  return ok(messages);
}

/** A whole body, and the memory reserved for it until its request is answered. */
export interface ReceivedBody {
  readonly bytes: Buffer;
  readonly reservation: BodyReservation;
}

export interface BodyOptions {
  readonly subject: string;
  readonly limitBytes: number;
  readonly budget: BodyBudget;
  readonly onRefused: (refusal: Refusal) => void;
}

/**
 * If more than this many bodies are being read, each gets at most `BODY_BYTES_PER_TURN` per turn of the event loop. Node
 * itself reads up to 2 MiB of each socket, so that a small request would wait for all of them.
 */
const MAX_UNPACED_BODIES = 4;
const BODY_BYTES_PER_TURN = 64 * 1024;
/** Estimated time in ms to read this much. */
const BODY_READ_MS = 1;

/** Reads a whole body. Undefined if the client disconnected first, or the body was refused for its size. */
export function readBody(request: IncomingMessage, options: BodyOptions): Promise<ReceivedBody | undefined> {
  const { subject, limitBytes, budget, onRefused } = options;
  const tooLarge = { code: 'MESSAGE_TOO_LARGE', limitBytes } as const;
  const { 'content-length': length } = request.headers;
  const declaredBytes = length === undefined ? undefined : Number(length);
  if (declaredBytes !== undefined && declaredBytes > limitBytes) {
    onRefused(tooLarge);
    return NONE;
  }
  return new Promise((resolve) => {
    const body = new CollectedBytes(declaredBytes);
    const pace = paced(request, budget);
    const refuse = (refusal: Refusal): void => {
      request.removeAllListeners('data').pause();
      body.clear();
      onRefused(refusal);
      leave();
    };
    const peer: Peer = { name: 'client', end: () => void request.socket.destroy() };
    // Another body may cause it, whose client must not be ended for a fault here.
    const evict = guardCallback(peer, () => refuse(budget.refusal));
    const reservation = budget.reserve(subject, { declaredBytes, maxBytes: limitBytes }, evict);
    const leave = (): void => {
      reservation?.release();
      resolve(undefined);
    };
    if (reservation === undefined) {
      refuse(budget.refusal);
      return;
    }
    let isWhole = false;
    request.on(
      'data',
      guardCallback(peer, (chunk: Buffer) => {
        body.add(chunk);
        if (body.length > limitBytes) refuse(tooLarge);
        // Reports the eviction itself.
        else if (reservation.holds(body.length)) pace(chunk.length);
      }),
    );
    request.on(
      'end',
      guardCallback(peer, () => {
        reservation.finish();
        isWhole = true;
        resolve({ bytes: body.take(), reservation });
      }),
    );
    const disconnect = (): void => {
      if (!isWhole) leave();
    };
    request.on('error', disconnect);
    request.on('close', disconnect);
  });
}

const NONE = Promise.resolve(undefined);

/** Slows the reading of a body if there are many. The function takes the length of each chunk that arrived. */
function paced(request: IncomingMessage, budget: BodyBudget): (bytes: number) => void {
  let bytesInTurn = 0;
  let isWaiting = false;
  const readOn = (): void => {
    isWaiting = false;
    bytesInTurn = 0;
    // A refused body, to whose chunks nobody listens any more, stays unread.
    if (request.listenerCount('data') > 0) request.resume();
  };
  return (bytes) => {
    bytesInTurn += bytes;
    if (isWaiting || bytesInTurn < BODY_BYTES_PER_TURN || budget.unfinished <= MAX_UNPACED_BODIES) return;
    isWaiting = true;
    request.pause();
    runLater(readOn, BODY_READ_MS);
  };
}

/** Why Assay cannot parse a message itself. Undefined if it can. */
export function findOwnFault(message: RequestMessage): Refusal | undefined {
  if (message.bytes.length > LARGE_MESSAGE)
    return {
      code: 'MESSAGE_INVALID',
      reason: `it is larger than ${LARGE_MESSAGE} bytes, and no tool is called`,
    };
  const reason = findJsonFault(message);
  return reason === undefined ? undefined : { code: 'MESSAGE_NOT_JSON', reason };
}
