import type { TwinRights } from './rights.ts';
import { shorten } from '@assay-mcp/kit/shorten';

/** An action that a sandbox denied to a read-only tool. */
export interface Denial {
  /** `write`: a change of files. `connect`: a connection, or the lookup of a host. */
  readonly kind: 'write' | 'connect';
  /** Path, host or address. Absent if unknown. */
  readonly target?: string | undefined;
}

/** A denial as the kernel reported it. */
export interface ObservedDenial extends Denial {
  /** Epoch time in ms. */
  readonly atMs: number;
  /** Set for a file opened to read and write, as databases do that then only read. */
  readonly mayBeRead?: true;
  /** Set for what by its name is a log, a cache, a lock or temporary. */
  readonly isNoise?: true;
}

/** What was refused in a sandbox in which one call was made. */
export interface DenialsOfCall {
  /** Epoch time in ms. */
  readonly sentMs: number;
  /** Also before the call. */
  readonly denials: readonly ObservedDenial[];
}

/** What was refused after the call was sent. */
export function listDenialsSince({ denials, sentMs }: DenialsOfCall): readonly ObservedDenial[] {
  return denials.filter(({ atMs }) => atMs >= sentMs);
}

/**
 * The refused changes that count although no text of the server reports them: not of logs, caches and the like, not what
 * it was refused before the call too, and not a file that may have been opened only to read it.
 */
export function listClearChanges(ofCall: DenialsOfCall): readonly ObservedDenial[] {
  const before = ofCall.denials.filter(({ atMs }) => atMs < ofCall.sentMs);
  const usual = new Set(before.map(({ target }) => target));
  return listDenialsSince(ofCall).filter(
    ({ kind, target, mayBeRead, isNoise }) =>
      kind === 'write' && mayBeRead !== true && isNoise !== true && !usual.has(target),
  );
}

/** What a process has changed in folders whose changes are discarded with it. */
export interface DiscardedFiles {
  /** Whether anything in these folders has changed since the process was started, which it may not see. */
  isOutdated(): Promise<boolean>;
  /** What the process has changed since the last look, or since its start. */
  look(): Promise<DiscardedLook>;
  /** Waits until the process changes nothing without a call, for a few seconds at most, or until the signal aborts. */
  settle(signal: AbortSignal): Promise<void>;
}

export interface DiscardedLook {
  /**
   * The changes that are more than lock files, caches and the like. `isCertain`: it is evidence against a tool that says
   * it only reads; false for a file that the process also changes when it starts.
   */
  readonly changes: readonly { readonly path: string; readonly isCertain: boolean }[];
  /** Whether all changes could be read. */
  readonly isComplete: boolean;
}

/** Longer texts are not searched: error messages are short. */
export const MAX_DENIAL_TEXT: number = 16 * 1024;
const MAX_TARGET_LENGTH = 300;

const PATH = /(?:\b\w+ |: |['"‘])(?:['"‘]|\\")?(\/[^'"’\\\n]*?)(?=['"’\\\n]|: |$)/;
const WRITE: readonly RegExp[] = [
  /\bEROFS\b/,
  /read-only file ?system/i,
  /\[Errno 30\]/,
  /attempt to write a readonly database/i,
  /API has been restricted\. Use --allow-fs-write/,
];
const CONNECT: readonly RegExp[] = [
  /\bENETUNREACH(?: ([\da-fA-F:.]+:\d+))?/,
  /\bEAI_AGAIN(?: ([\w.-]+))?/,
  /\bENOTFOUND(?: ([\w.-]+))?/,
  /dial tcp:? (?:lookup )?([\w.:[\]-]+?)(?:: | on )/,
  /network is unreachable/i,
  /temporary failure in name resolution/i,
  /(?:could not|couldn't|cannot|unable to|failed to) resolve (?:host(?:name)?:? ?)?['"]?([\w.-]+\.[\w-]+)?/i,
  /\bfetch failed\b/,
];

/**
 * The denial that a server's text reports. A server may write anything, so this is a hint and not evidence. Undefined
 * if the text reports none.
 */
export function findDenial(text: string, rights: TwinRights): Denial | undefined {
  if (text.length > MAX_DENIAL_TEXT) return undefined;
  for (const pattern of WRITE) {
    const at = text.search(pattern);
    if (at >= 0) return { kind: 'write', target: shortened(PATH.exec(near(text, at))?.[1]) };
  }
  if (rights !== 'read') return undefined;
  for (const pattern of CONNECT) {
    const found = pattern.exec(text);
    if (found !== null) return { kind: 'connect', target: shortened(found[1]) };
  }
  return undefined;
}

/** The line around an error, which may name its file before or after the message. */
function near(text: string, at: number): string {
  const start = Math.max(text.lastIndexOf('\n', at) + 1, at - MAX_TARGET_LENGTH);
  const end = text.indexOf('\n', at);
  const line = text.slice(start, Math.min(end < 0 ? text.length : end, at + 2 * MAX_TARGET_LENGTH));
  const behind = line.slice(at - start);
  return PATH.test(behind) ? behind : line;
}

function shortened(target: string | undefined): string | undefined {
  return target === undefined ? undefined : shorten(target, MAX_TARGET_LENGTH);
}

/** The denied action, as the end of a sentence, such as `changing "/data/notes.txt"`. */
export function formatDenial({ kind, target }: Denial): string {
  if (kind === 'write') return target === undefined ? 'changing files' : `changing ${JSON.stringify(target)}`;
  return target === undefined ? 'connecting to the network' : `connecting to ${JSON.stringify(target)}`;
}

/** The rule that denied it, as a clause. */
export function formatDenialRule({ kind }: Denial, rights: TwinRights): string {
  if (kind === 'write') return 'a read-only tool cannot change files';
  return rights === 'read'
    ? 'a closed-world tool has no network'
    : 'an open-world tool can connect only to the hosts that "network" allows';
}
