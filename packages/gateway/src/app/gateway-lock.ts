import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { STOP_TARGET } from '../core/attach.ts';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { AppOptions } from '../core/command-options.ts';
import { locateConfig, toConfigEnvironment } from '@assay-mcp/kit/platform/locate-config';
import { locateHome } from '@assay-mcp/kit/platform/locate-home';
import { sha256 } from '@assay-mcp/kit/digest';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import { pause } from '@assay-mcp/kit/platform/pause';
import {
  acquireLock,
  type LockHolder,
  readLock,
  type ProcessLock,
} from '@assay-mcp/kit/platform/process-lock';
import { sendOverSocket } from '@assay-mcp/kit/platform/socket-request';

/** What a gateway writes into its lock, for processes that attach to it. */
export interface GatewayFacts {
  /** Whether it was started in the background, so that it gives way to `assay serve`. */
  readonly isOnDemand: boolean;
  readonly state: 'starting' | 'ready' | 'ending';
  /** Set when it is ready, unless it could not open one. */
  readonly socket?: string | undefined;
  readonly url?: string | undefined;
}

export interface RunningGateway extends GatewayFacts {
  readonly pid: number;
}

/** Identifies the gateway of a config file: another home or config is another gateway. */
export interface GatewayPlace {
  readonly home: string;
  /** Absolute. */
  readonly configPath: string;
}

/** Maximum time in ms that a gateway may take to end once it was asked to. */
const GIVE_WAY_MS = 75_000;
const POLL_MS = 50;

/**
 * Makes this process the gateway of a config in this home. One that runs in the background is asked to give way, unless
 * this one is started in the background too; one that is ending is waited for. GATEWAY_RUNNING, FILE_UNWRITABLE
 */
export async function acquireGateway(
  place: GatewayPlace,
  facts: GatewayFacts,
): Promise<Result<ProcessLock, Refusal>> {
  const path = lockPath(place);
  const until = performance.now() + GIVE_WAY_MS;
  let isAsked = false;
  for (;;) {
    const acquired = await acquireLock(path, facts);
    if (acquired.kind === 'acquired') return ok(acquired.lock);
    if (acquired.kind === 'failed') return err({ code: 'FILE_UNWRITABLE', path, reason: acquired.reason });
    const running = toRunning(acquired.by.pid, acquired.by.details);
    const givesWay = running?.state === 'ending' || (running?.isOnDemand === true && !facts.isOnDemand);
    if (!givesWay || performance.now() > until)
      return err({ code: 'GATEWAY_RUNNING', pid: acquired.by.pid, url: running?.url });
    if (!isAsked && running.socket !== undefined) isAsked = await askToStop(running.socket);
    await pause(POLL_MS);
  }
}

/** The gateway that runs with this home and config, if any. */
export function findGateway(place: GatewayPlace): RunningGateway | undefined {
  const holder = readLock(lockPath(place));
  return holder && toRunning(holder.pid, holder.details);
}

/** A gateway of any config that runs with this home. */
export async function findAnyGateway(home: string): Promise<LockHolder | undefined> {
  const names = await readdir(home).catch(() => []);
  return names
    .filter((name) => /^gateway-[\da-f]{16}\.lock$/.test(name))
    .map((name) => readLock(join(home, name)))
    .find((holder) => holder !== undefined);
}

/** Asks a gateway to end. Returns whether it has heard. */
async function askToStop(socket: string): Promise<boolean> {
  const answer = await sendOverSocket({ socket, method: 'POST', target: STOP_TARGET });
  return answer.kind === 'answered' && answer.status === 202;
}

/** The home and the config file that options and environment name. */
function locateGateway(options: AppOptions): GatewayPlace {
  const configEnvironment = toConfigEnvironment(options);
  const { path: configPath } = locateConfig({ flag: options.config, ...configEnvironment });
  return { home: locateHome(configEnvironment), configPath };
}

/** Ends the gateway of a home and config, and waits until it has ended. Undefined if none runs. */
export async function stopGateway(
  options: AppOptions,
): Promise<Result<{ readonly pid: number } | undefined, Refusal>> {
  const place = locateGateway(options);
  const running = findGateway(place);
  if (running === undefined) return ok(undefined);
  const { pid, url, socket } = running;
  const until = performance.now() + GIVE_WAY_MS;
  if (socket === undefined || !(await askToStop(socket))) return err({ code: 'GATEWAY_RUNNING', pid, url });
  while (findGateway(place)?.pid === pid) {
    if (performance.now() > until) return err({ code: 'GATEWAY_RUNNING', pid, url });
    await pause(POLL_MS);
  }
  return ok({ pid });
}

function lockPath({ home, configPath }: GatewayPlace): string {
  return join(home, `gateway-${sha256(configPath).slice(0, 16)}.lock`);
}

/** Undefined if the lock is of another version of Assay that writes something else. */
function toRunning(pid: number, details: unknown): RunningGateway | undefined {
  if (!isJsonObject(details)) return undefined;
  const { isOnDemand, state, socket, url } = details;
  if (state !== 'starting' && state !== 'ready' && state !== 'ending') return undefined;
  return {
    pid,
    isOnDemand: isOnDemand === true,
    state,
    socket: typeof socket === 'string' ? socket : undefined,
    url: typeof url === 'string' ? url : undefined,
  };
}
