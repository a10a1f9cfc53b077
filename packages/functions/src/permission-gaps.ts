import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';
import os from 'node:os';
import { resolve } from 'node:path';
import process from 'node:process';
import trace from 'node:trace_events';
import v8 from 'node:v8';

/**
 * Removes what Node's permission model leaves open: access to other processes, and to files by other ways than
 * `node:fs`. `subject` begins the errors of removed functions.
 */
export function closeGaps(subject: string): void {
  const deny = createDenier(subject);
  for (const name of REACHING_OUT) deny(process, name, `process.${name}`);
  deny(os, 'setPriority', 'os.setPriority');
  for (const name of V8_FILES) deny(v8, name, `v8.${name}`);
  deny(trace, 'createTracing', 'trace_events.createTracing');
  // Node writes reports and snapshots at a fatal error without checking permissions.
  const getReport = process.report.getReport.bind(process.report);
  const report = { getReport };
  deny(report, 'writeReport', 'process.report.writeReport');
  replace(process, 'report', report);
  confineSocketFiles();
}

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

/** These open files without checking permissions. */
const V8_FILES = ['setFlagsFromString', 'setHeapSnapshotNearHeapLimit', 'takeCoverage', 'stopCoverage'];

/** Node's permissions do not cover sockets: listening on a path could create a file anywhere the user may write. */
function confineSocketFiles(): void {
  const pipe = prototypeOf((process.stdin as { readonly _handle?: object })._handle);
  const mayWrite = process.permission.has.bind(process.permission, 'fs.write');
  const absolute = resolve;
  for (const [name, index] of [
    ['bind', 0],
    ['connect', 1],
  ] as const) {
    const native = pipe[name];
    if (typeof native !== 'function') throw new Error(`This Node has no ${name} of pipes to confine.`);
    const call = Reflect.apply;
    replace(pipe, name, function (this: object, ...args: unknown[]): unknown {
      const path = absolute(String(args[index]));
      if (!mayWrite(path)) throw new SocketDenied(path);
      args[index] = path;
      return call(native, this, args) as unknown; // Reflect.apply returns any.
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

/** Makes the network unreachable. From Node 25 on, Node's own permissions do that. */
export function closeNetwork(): void {
  if (process.allowedNodeEnvironmentFlags.has('--allow-net') && !process.permission.has('net')) return;
  const unreachable = (): number => -os.constants.errno.ENETUNREACH;
  // net's internal handles, for which Node has no types. All connections and listeners use one of these.
  const { _createServerHandle: serverHandle } = net as unknown as { _createServerHandle: Handles };
  const [tcp, udpSocket, resolver] = [
    serverHandle('127.0.0.1', 0, 4),
    dgram.createSocket('udp4'),
    new dns.Resolver(),
  ];
  const state = Object.getOwnPropertySymbols(udpSocket).map(
    (key) => (udpSocket as unknown as Record<symbol, { readonly handle?: object } | undefined>)[key],
  );
  const udp = state.find((one) => typeof one?.handle === 'object')?.handle;
  const queries = prototypeOf((resolver as { readonly _handle?: object })._handle);
  for (const name of ['connect', 'connect6', 'bind', 'bind6', 'listen', 'open'])
    replaceKnown(prototypeOf(tcp), name, unreachable);
  for (const name of ['connect', 'connect6', 'bind', 'bind6', 'send', 'send6', 'open'])
    replaceKnown(prototypeOf(udp), name, unreachable);
  const asked = Object.getOwnPropertyNames(queries).filter((name) => /^(?:query|getHost)/.test(name));
  if (asked.length === 0) throw new Error('This Node has no DNS queries to confine.');
  for (const name of asked) replaceKnown(queries, name, unreachable);
  tcp.close();
  udpSocket.close();
  replace(dns, 'lookup', (host: unknown, ...rest: unknown[]) => {
    const callback = rest.at(-1);
    if (typeof callback === 'function') process.nextTick(callback, new LookupDenied(host));
  });
  replace(dns.promises, 'lookup', (host: unknown) => Promise.reject(new LookupDenied(host)));
  const deny = createDenier('A closed-world tool');
  for (const from of [dns, dns.promises]) deny(from, 'lookupService', 'dns.lookupService');
}

type Handles = (address: string, port: number, family: 4) => { close(): void };

/** Like the system's error without a network. */
class LookupDenied extends Error {
  readonly code = 'EAI_AGAIN';
  readonly syscall = 'getaddrinfo';

  constructor(host: unknown) {
    super(`getaddrinfo EAI_AGAIN ${String(host)}`);
  }
}

function prototypeOf(handle: object | undefined): Record<string, unknown> {
  const prototype: unknown = handle && Object.getPrototypeOf(handle);
  if (typeof prototype !== 'object' || prototype === null)
    throw new Error('This Node has no handle to confine.');
  return prototype as Record<string, unknown>;
}

function replaceKnown(owner: Record<string, unknown>, name: string, value: unknown): void {
  if (typeof owner[name] !== 'function') throw new Error(`This Node has no ${name} to confine.`);
  replace(owner, name, value);
}

type Deny = (owner: object, name: string, shown: string) => void;

/** Replaces functions by ones that throw. */
export function createDenier(subject: string): Deny {
  return (owner, name, shown) =>
    replace(owner, name, () => {
      throw new Error(`${subject} may not use ${shown}.`);
    });
}

export function replace(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, writable: true, configurable: false, enumerable: true });
}
