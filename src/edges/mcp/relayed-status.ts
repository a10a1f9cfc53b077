import type { Reply } from '../../gateway/ports.ts';
import { memberOf, rawOf } from '../../protocol/spans.ts';

/**
 * The HTTP status of a server's answer for a modern client: the one that this server would have given itself. That a
 * method is not there says any server by the same code (2026-07-28, basic/transports/streamable-http#protocol-version-header);
 * the codes of the modern era mean something from a modern server alone (basic/index#error-codes).
 */
export function relayedStatus({ message, era }: Reply): number {
  if (!message.isError) return 200;
  const code = memberOf(memberOf(message.root, 'error')?.object, 'code');
  const text = code && rawOf(message.bytes, code);
  if (text === METHOD_NOT_FOUND) return 404;
  return era === 'modern' && text !== undefined && BAD_REQUESTS.has(text) ? 400 : 200;
}

const METHOD_NOT_FOUND = '-32601';
/** The headers do not fit, a capability is missing, the revision is not spoken. */
const BAD_REQUESTS: ReadonlySet<string> = new Set(['-32020', '-32021', '-32022']);
