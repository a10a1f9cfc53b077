import { readdirSync, readlinkSync } from 'node:fs';
import type { Assay } from './assay.ts';
import { sleep } from './endings.ts';
import { send } from './http.ts';
import { scaledMs } from './slow-machine.ts';
import { childrenOf } from './processes.ts';
import { samplesIn, type Sample } from './prometheus.ts';

/** What one Assay holds open at a point in time. */
export interface OpenThings {
  readonly processes: number;
  readonly sockets: number;
  /** Files, pipes and everything else except sockets. */
  readonly files: number;
  readonly sessions: number;
  readonly suspendedCalls: number;
  readonly privateLinks: number;
  readonly inFlight: number;
}

const COUNTED: ReadonlyMap<string, keyof OpenThings> = new Map([
  ['assay_sessions', 'sessions'],
  ['assay_suspended_calls', 'suspendedCalls'],
  ['assay_private_links', 'privateLinks'],
  ['assay_requests_in_flight', 'inFlight'],
]);

export async function samplesOf({ url }: Pick<Assay, 'url'>): Promise<readonly Sample[]> {
  const { text } = await send(url.replace(/\/mcp\/all$/, '/metrics'), { method: 'GET' });
  return samplesIn(text);
}

export async function openThings(assay: Pick<Assay, 'url' | 'pid'>): Promise<OpenThings> {
  const samples = await samplesOf(assay);
  const numbers = { sessions: 0, suspendedCalls: 0, privateLinks: 0, inFlight: 0 };
  for (const { name, value } of samples) {
    const key = COUNTED.get(name);
    if (key !== undefined) numbers[key as keyof typeof numbers] += value;
  }
  return { ...numbers, processes: childrenOf(assay.pid).length, ...openFilesOf(assay.pid) };
}

/** Read from `/proc`; zero where it does not exist. */
export function openFilesOf(pid: number): { readonly sockets: number; readonly files: number } {
  let sockets = 0;
  let files = 0;
  for (const name of namesIn(`/proc/${pid}/fd`)) {
    if (linkOf(`/proc/${pid}/fd/${name}`).startsWith('socket:')) sockets += 1;
    else files += 1;
  }
  return { sockets, files };
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** Waits until no more is open than before; returns what is open then, or when time runs out. */
export async function settledTo(
  before: OpenThings,
  assay: Pick<Assay, 'url' | 'pid'>,
  limitMs = 10_000,
): Promise<OpenThings> {
  const endMs = Date.now() + scaledMs(limitMs);
  for (;;) {
    const now = await openThings(assay);
    const isMore = (Object.keys(before) as (keyof OpenThings)[]).some((key) => now[key] > before[key]);
    if (!isMore || Date.now() > endMs) return now;
    await sleep(50);
  }
}
