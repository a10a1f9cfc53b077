import { isFunctionResult, isRecord, toMebibytes, RESULT_LIMIT_BYTES } from './function-messages.ts';
import { formatThrown, tryTo, type FaultContext } from './fault-text.ts';
import { byteLength, parse, stringify } from './harden-globals.ts';

/** A returned value as JSON text of a result, never longer than the limit. Never throws. */
export function serializeReturned(returned: unknown, context: FaultContext): string {
  try {
    const text = textOf(returned);
    const bytes = byteLength(text);
    return bytes > RESULT_LIMIT_BYTES ? tooLarge(`${toMebibytes(bytes)} MiB of JSON`) : text;
  } catch (error) {
    // The text exceeds V8's maximum string length.
    if (error instanceof RangeError && error.message === 'Invalid string length') return tooLarge('huge');
    return serializeError(
      `What the tool returned cannot be written as JSON: ${formatThrown(error, context)}`,
    );
  }
}

/** JSON text of an error result. */
export function serializeError(text: string): string {
  return stringify({ content: [{ type: 'text', text }], isError: true });
}

/** Whether a value has the shape of an MCP result. */
export function isResult(returned: unknown): boolean {
  if (!isRecord(returned)) return false;
  const content = tryTo(() => returned['content']);
  return (
    Array.isArray(content) && content.every((part) => isRecord(part) && typeof part['type'] === 'string')
  );
}

function textOf(returned: unknown): string {
  if (returned === undefined) return contentText('Done.');
  if (typeof returned === 'string') return contentText(returned);
  const json = stringify(returned) as string | undefined; // undefined for a function or symbol
  if (json === undefined) throw new TypeError(`it is a ${typeof returned}`);
  if (isResult(returned))
    return isFunctionResult(parse(json))
      ? json
      : serializeError(
          'What the tool returned is not a valid MCP result: its "content" must be an array of parts with a "type", its "structuredContent" and "_meta" objects, its "isError" true or false.',
        );
  const structured = json.startsWith('{') ? `,"structuredContent":${json}` : '';
  return `{"content":[{"type":"text","text":${stringify(json)}}]${structured}}`;
}

function contentText(text: string): string {
  return stringify({ content: [{ type: 'text', text }] });
}

function tooLarge(size: string): string {
  return serializeError(
    `What the tool returned is too large: it is ${size}, and at most ${toMebibytes(RESULT_LIMIT_BYTES)} MiB are passed on.`,
  );
}
