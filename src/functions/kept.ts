import { Buffer } from 'node:buffer';

// What Assay is spoken to with, taken before the module could put others in their place.
export const stringify: typeof JSON.stringify = JSON.stringify;
export const parse: typeof JSON.parse = JSON.parse;
export const byteLength: (text: string) => number = Buffer.byteLength.bind(Buffer);
export const nowMs: () => number = performance.now.bind(performance);
export const wait: typeof Atomics.wait = Atomics.wait;

const { defineProperty } = Reflect;
const OwnArrayBuffer = ArrayBuffer;
const OwnBytes = Uint8Array;
const encoder = new TextEncoder();
const encodeInto = encoder.encodeInto.bind(encoder);

export interface Line {
  readonly bytes: Uint8Array;
  /** In bytes; nothing of the module says it. */
  readonly length: number;
}

/** The bytes of a text, in memory of their own. */
export function encodedOf(text: string): Uint8Array {
  return putInto(new OwnBytes(0), text).bytes;
}

/** A text behind some bytes, in memory of their own, by nothing that the module can replace. */
export function putInto(front: Uint8Array, text: string): Line {
  // A property of its own, as that of the prototype may be the module's by now.
  const frontLength = front.byteLength;
  const length = frontLength + byteLength(text);
  const memory = new OwnArrayBuffer(length);
  const bytes = new OwnBytes(memory);
  defineProperty(bytes, 'byteLength', { __proto__: null, value: length } as PropertyDescriptor);
  for (let at = 0; at < frontLength; at += 1) bytes[at] = front[at] ?? 0;
  encodeInto(text, new OwnBytes(memory, frontLength));
  return { bytes, length };
}
