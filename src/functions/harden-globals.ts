import { Buffer } from 'node:buffer';
import module, { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { resolve } from 'node:path';
import process from 'node:process';
import { Readable } from 'node:stream';
import trace from 'node:trace_events';
import v8 from 'node:v8';

/**
 * Takes away what Node's permission model leaves: what reaches other processes, and the streams over which Assay is
 * spoken to. `onExit` ends the process in place of `process.exit`.
 */
export function hardenGlobals(onExit: (code: unknown) => never): void {
  for (const name of REACHING_OUT) deny(process, name, `process.${name}`);
  deny(os, 'setPriority', 'os.setPriority');
  for (const name of V8_REACH) deny(v8, name, `v8.${name}`);
  deny(trace, 'createTracing', 'trace_events.createTracing');
  // Reports and snapshots at a fatal error are written where no permission is asked for.
  replace(process, 'report', REPORT);
  deny(module, 'enableCompileCache', 'module.enableCompileCache');
  // Hooks of the module would come before ours.
  for (const name of ['register', 'registerHooks']) deny(module, name, `module.${name}`);
  replace(process, 'exit', onExit);
  confineSocketFiles();
  replace(process, 'stdin', Readable.from([]));
  // What the module prints goes where the log is.
  replace(process, 'stdout', process.stderr);
  const builtin = process.getBuiltinModule.bind(process);
  const guarded = (id: string): object | undefined => (refuseBuiltin(id), builtin(id));
  replace(process, 'getBuiltinModule', guarded);
  syncBuiltinESMExports();
}

/** Throws for a module of Node that writes files whatever the permissions are. */
export function refuseBuiltin(specifier: string): void {
  if (specifier === 'node:sqlite')
    throw new Error('A function may not use node:sqlite, as it could write any file with it.');
}

/** What opens files without asking for permission, and what shows memory, where the mark of our messages is. */
const V8_REACH = [
  'queryObjects',
  'setFlagsFromString',
  'setHeapSnapshotNearHeapLimit',
  'getHeapSnapshot',
  'takeCoverage',
  'stopCoverage',
];

/** What reads of a report; it is written nowhere. */
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

/** Node's permissions know no sockets: without this, listening at a path makes a file wherever the user may. */
function confineSocketFiles(): void {
  const pipe: unknown = Object.getPrototypeOf((process.stdin as { readonly _handle?: object })._handle);
  const mayWrite = process.permission.has.bind(process.permission, 'fs.write');
  const absolute = resolve;
  for (const [name, place] of [
    ['bind', 0],
    ['connect', 1],
  ] as const) {
    const native = (pipe as Record<string, unknown>)[name]; // of net's own handles; the type of Node has no name
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

/** As Node says it of a file. */
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

interface Line {
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
