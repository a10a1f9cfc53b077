import type { Refusal } from '../../core/refusal.ts';
import { jsonFault, LARGE_MESSAGE, type RequestMessage } from '../../protocol/message.ts';

/** Why a message cannot be taken apart by Assay itself; undefined: it can. */
export function ownFault(message: RequestMessage): Refusal | undefined {
  if (message.bytes.length > LARGE_MESSAGE)
    return {
      code: 'MESSAGE_INVALID',
      reason: `it is larger than ${LARGE_MESSAGE} bytes, and no tool is called`,
    };
  const reason = jsonFault(message);
  return reason === undefined ? undefined : { code: 'MESSAGE_NOT_JSON', reason };
}
