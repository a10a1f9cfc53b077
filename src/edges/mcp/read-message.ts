import { err, ok, type Result } from '../../core/result.ts';
import type { Refusal } from '../../core/refusal.ts';
import { inTurns, laterTurn } from '../../platform/turns.ts';
import {
  LARGE_MESSAGE,
  largeMessage,
  readClientMessage,
  type Message,
  type NoMessage,
} from '../../protocol/message.ts';
import { ArrayScan } from '../../protocol/scan.ts';

/** Reads what a client sent; a large message in several turns of the event loop, so that others are served meanwhile. */
export function readFromClient(bytes: Buffer): Message | NoMessage | Promise<Message | NoMessage> {
  return bytes.length > LARGE_MESSAGE ? inTurns(largeMessage(bytes, 'client')) : readClientMessage(bytes);
}

export const MOST_IN_BATCH = 100;
const STEP_BYTES = 256 * 1024;

/** Reads the messages of a batch; the refusal says why it is none. */
export async function readBatch(bytes: Buffer): Promise<Result<readonly (Message | NoMessage)[], Refusal>> {
  const scan = new ArrayScan(bytes, MOST_IN_BATCH);
  const found = scan.step(STEP_BYTES) ?? (await inTurns(() => scan.step(STEP_BYTES)));
  if ('reason' in found)
    return found.isJson
      ? err({ code: 'MESSAGE_INVALID', reason: `a batch has 1 to ${MOST_IN_BATCH} messages` })
      : err({ code: 'MESSAGE_NOT_JSON', reason: 'not a JSON array' });
  const messages: (Message | NoMessage)[] = [];
  let bytesInTurn = 0;
  for (const { start, end } of found) {
    bytesInTurn += end - start;
    if (bytesInTurn > STEP_BYTES) {
      bytesInTurn = end - start;
      await laterTurn();
    }
    messages.push(await readFromClient(bytes.subarray(start, end)));
  }
  return ok(messages);
}
