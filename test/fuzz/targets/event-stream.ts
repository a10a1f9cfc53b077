import assert from 'node:assert/strict';
import { EventTooLarge, SseParser } from '@assay-mcp/protocol/sse';

const LIMIT_BYTES = 1_000;

/** The first byte sets the chunk size: however a stream is chunked, it has the same events. */
export function fuzz(data: Buffer): void {
  const bytes = data.subarray(1);
  const [whole, cut] = [events(bytes, bytes.length), events(bytes, 1 + ((data[0] ?? 0) % 16))];
  if (whole === undefined || cut === undefined) return;
  assert.deepEqual(cut, whole);
}

function events(bytes: Buffer, step: number): readonly unknown[] | undefined {
  const found: unknown[] = [];
  const parser = new SseParser(
    ({ event, data, id }) => found.push([event, data.toString('latin1'), id]),
    LIMIT_BYTES,
  );
  try {
    for (let at = 0; at < bytes.length; at += step) parser.push(bytes.subarray(at, at + step));
  } catch (error) {
    if (error instanceof EventTooLarge) return undefined;
    throw error;
  }
  return [...found, parser.lastId, parser.retryMs];
}
