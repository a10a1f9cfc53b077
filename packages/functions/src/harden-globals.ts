import { Buffer } from 'node:buffer';
import module, { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';
import { Readable } from 'node:stream';
import v8 from 'node:v8';
import { closeGaps, createDenier, replace } from './permission-gaps.ts';

const FUNCTION = 'A function';
const deny = createDenier(FUNCTION);

/**
 * Removes what Node's permission model leaves open: access to other processes, and to the streams that lead to Assay.
 * `onExit` replaces `process.exit`.
 */
export function hardenGlobals(onExit: (code: unknown) => never): void {
  closeGaps(FUNCTION);
  // It shows memory, which contains the mark of our messages.
  for (const name of ['queryObjects', 'getHeapSnapshot']) deny(v8, name, `v8.${name}`);
  deny(module, 'enableCompileCache', 'module.enableCompileCache');
  // The module's hooks would run before ours.
  for (const name of ['register', 'registerHooks']) deny(module, name, `module.${name}`);
  replace(process, 'exit', onExit);
  replace(process, 'stdin', Readable.from([]));
  // The output of the module goes to the log.
  replace(process, 'stdout', process.stderr);
  const builtin = process.getBuiltinModule.bind(process);
  const guarded = (id: string): object | undefined => (refuseBuiltin(id), builtin(id));
  replace(process, 'getBuiltinModule', guarded);
  syncBuiltinESMExports();
}

/** Throws for a built-in module of Node that writes files regardless of permissions. */
export function refuseBuiltin(specifier: string): void {
  if (specifier === 'node:sqlite')
    throw new Error('A function may not use node:sqlite, as it could write any file with it.');
}

// The functions that communicate with Assay, saved before the module can replace them.
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

interface Line {
  readonly bytes: Uint8Array;
  /** In bytes, computed without anything that the module can replace. */
  readonly length: number;
}

/** The bytes of a text, in their own memory. */
export function encodeText(text: string): Uint8Array {
  return putInto(new OwnBytes(0), text).bytes;
}

/** Bytes followed by a text, in their own memory. Uses nothing that the module can replace. */
export function putInto(front: Uint8Array, text: string): Line {
  // An own property, because the module may have replaced that of the prototype.
  const frontLength = front.byteLength;
  const length = frontLength + byteLength(text);
  const memory = new OwnArrayBuffer(length);
  const bytes = new OwnBytes(memory);
  defineProperty(bytes, 'byteLength', { __proto__: null, value: length } as PropertyDescriptor);
  for (let at = 0; at < frontLength; at += 1) bytes[at] = front[at] ?? 0;
  encodeInto(text, new OwnBytes(memory, frontLength));
  return { bytes, length };
}
