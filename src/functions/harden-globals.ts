import { Buffer } from 'node:buffer';
import module, { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { resolve } from 'node:path';
import process from 'node:process';
import { Readable } from 'node:stream';
import trace from 'node:trace_events';
import v8 from 'node:v8';

/**
 * Removes what Node's permission model leaves open: access to other processes, and to the streams that lead to Assay.
 * `onExit` replaces `process.exit`.
 */
export function hardenGlobals(onExit: (code: unknown) => never): void {
  for (const name of REACHING_OUT) deny(process, name, `process.${name}`);
  deny(os, 'setPriority', 'os.setPriority');
  for (const name of V8_REACH) deny(v8, name, `v8.${name}`);
  deny(trace, 'createTracing', 'trace_events.createTracing');
  // Node writes reports and snapshots at a fatal error without checking permissions.
  replace(process, 'report', REPORT);
  deny(module, 'enableCompileCache', 'module.enableCompileCache');
  // The module's hooks would run before ours.
  for (const name of ['register', 'registerHooks']) deny(module, name, `module.${name}`);
  replace(process, 'exit', onExit);
  confineSocketFiles();
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

/** These open files without checking permissions, or show memory, which contains the mark of our messages. */
const V8_REACH = [
  'queryObjects',
  'setFlagsFromString',
  'setHeapSnapshotNearHeapLimit',
  'getHeapSnapshot',
  'takeCoverage',
  'stopCoverage',
];

/** Reports can be read, but not written to a file. */
const REPORT = {
  getReport: process.report.getReport.bind(process.report),
  writeReport: (): never => {
    throw new Error('A function may not use process.report.writeReport.');
  },
};

const REACHING_OUT = [
  'kill',
  '_kill',
  '_debugProcess',
  '_debugEnd',
  'abort',
  'dlopen',
  'binding',
  '_linkedBinding',
  'execve',
];

/** Node's permissions do not cover sockets: listening on a path could create a file anywhere the user may write. */
function confineSocketFiles(): void {
  const pipe: unknown = Object.getPrototypeOf((process.stdin as { readonly _handle?: object })._handle);
  const mayWrite = process.permission.has.bind(process.permission, 'fs.write');
  const absolute = resolve;
  for (const [name, place] of [
    ['bind', 0],
    ['connect', 1],
  ] as const) {
    const native = (pipe as Record<string, unknown>)[name]; // net's internal handle, for which Node has no type
    if (typeof native !== 'function') throw new Error(`This Node has no ${name} of pipes to confine.`);
    const call = Reflect.apply;
    replace(pipe as object, name, function (this: object, ...args: unknown[]): unknown {
      const path = absolute(String(args[place]));
      if (!mayWrite(path)) throw new SocketDenied(path);
      args[place] = path;
      return call(native, this, args) as unknown; // Reflect.apply says any
    });
  }
}

/** Like Node's error for a file. */
class SocketDenied extends Error {
  readonly code = 'ERR_ACCESS_DENIED';
  readonly permission = 'FileSystemWrite';
  readonly resource: string;

  constructor(path: string) {
    super('A socket with a path may only be where files may be written.');
    this.resource = path;
  }
}

function deny(owner: object, name: string, shown: string): void {
  replace(owner, name, () => {
    throw new Error(`A function may not use ${shown}.`);
  });
}

function replace(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, writable: true, configurable: false, enumerable: true });
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
export function encodedOf(text: string): Uint8Array {
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
