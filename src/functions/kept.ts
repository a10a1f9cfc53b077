import { Buffer } from 'node:buffer';

// What Assay is spoken to with, taken before the module could put others in their place.
export const stringify: typeof JSON.stringify = JSON.stringify;
export const parse: typeof JSON.parse = JSON.parse;
export const bytesOf: (text: string) => Buffer = Buffer.from.bind(Buffer); // of a text
export const byteLength: (text: string) => number = Buffer.byteLength.bind(Buffer);
export const nowMs: () => number = performance.now.bind(performance);
export const wait: typeof Atomics.wait = Atomics.wait;
