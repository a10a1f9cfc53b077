import { isJsonObject, parseObject } from '@assay-mcp/kit/json-object';
import type { ResponseMessage } from '@assay-mcp/protocol/message';
import { shortenPeerText } from '../../core/bounded-refusal.ts';
import type { Cause } from '../../core/cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { HttpEnd } from './http-exchange.ts';

/** An error that long is not about a session. */
const MAX_ERROR_BYTES = 16_384;

/**
 * Many servers answer a request of an unknown session with HTTP 400 and a sentence, instead of HTTP 404
 * (2025-11-25, basic/transports#session-management). Returns that sentence.
 */
export function findSessionFault(
  answer: ResponseMessage | Extract<HttpEnd, { kind: 'answered' }>,
): string | undefined {
  const text = answer.kind === 'response' ? readErrorMessage(answer) : readErrorText(answer);
  return text !== undefined && SESSION_WORDS.test(text) ? shortenPeerText(text) : undefined;
}

const SESSION_WORDS = /\bsession|\bnot initiali[sz]ed\b/i;

function readErrorMessage({ isError, bytes }: ResponseMessage): string | undefined {
  if (!isError || bytes.length > MAX_ERROR_BYTES) return undefined;
  const error = parseObject(bytes.toString())['error'];
  const message = isJsonObject(error) ? error['message'] : undefined;
  return typeof message === 'string' ? message : undefined;
}

function readErrorText({ status, text }: Extract<HttpEnd, { kind: 'answered' }>): string | undefined {
  return status === 400 ? text : undefined;
}

/**
 * What became of a request whose server did not know the session. An error without an id was given before the server
 * looked at the request; any other might come from the tool, whose words would be the same.
 */
export function toSessionRefusal(server: string, cause: Cause, isUnread: boolean): Refusal {
  return isUnread ? { code: 'SERVER_UNREACHED', server, cause } : { code: 'SESSION_RENEWED', server, cause };
}
