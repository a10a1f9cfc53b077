import { computeBackoffMs } from '@assay-mcp/kit/backoff';
import { pause } from '@assay-mcp/kit/platform/pause';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ServeOptions } from '../core/command-options.ts';
import type { Refusal } from '../core/refusal.ts';
import { formatRefusal } from '../core/sentences.ts';
import { createListener, type HttpListener } from '../edges/mcp/http-listener.ts';
import type { Store } from '../gateway/ports/store.ts';
import { type Environment, getVariable } from './environment.ts';

/** How long `assay serve` waits for PostgreSQL when it starts, and its intervals, in ms. */
const MAX_WAIT_MS = 300_000;
const FIRST_INTERVAL_MS = 250;
const MAX_INTERVAL_MS = 10_000;

export interface AwaitedStore {
  readonly store: Store;
  /** Set if it had to be waited for: it listens already, and has answered probes. */
  readonly listener: HttpListener | undefined;
}

/**
 * Opens the store. A PostgreSQL that does not answer yet is waited for, as long as that can help: not with a wrong
 * password, an unknown database or a certificate that is not trusted. SHUTTING_DOWN if it was stopped meanwhile.
 */
export async function waitForStore(
  environment: Environment,
  { host, port, limits, onDemand, untilStopped, onWaiting }: ServeOptions,
): Promise<Result<AwaitedStore, Refusal>> {
  const first = await environment.store.open();
  if (first.ok) return ok({ store: first.value, listener: undefined });
  const isRemote = getVariable(environment.configEnvironment.env, 'ASSAY_DATABASE_URL') !== undefined;
  if (!isRemote || onDemand === true || !canMend(first.error)) return first;
  const { log } = environment;
  const listener = createListener({ host, limits, log });
  const listening = await listener.listen(port);
  if (!listening.ok) return listening;
  onWaiting?.();
  const stop = new AbortController();
  void untilStopped?.().then(() => stop.abort());
  const opened = await retry(environment, first.error, stop.signal);
  if (opened.ok) return ok({ store: opened.value, listener });
  await listener.close();
  return opened;
}

async function retry(
  { store, log }: Environment,
  first: Refusal,
  signal: AbortSignal,
): Promise<Result<Store, Refusal>> {
  const startMs = performance.now();
  const told = new Set<string>();
  let fault = first;
  for (let failures = 1; ; failures += 1) {
    const cause = formatRefusal(fault);
    if (!told.has(cause)) log.warn('the store cannot be opened yet; trying again', { cause });
    told.add(cause);
    const bounds = { firstMs: FIRST_INTERVAL_MS, maxMs: MAX_INTERVAL_MS, chance: Math.random() };
    await pause(computeBackoffMs(failures, bounds), signal);
    if (signal.aborted) return err({ code: 'SHUTTING_DOWN' });
    const isOver = performance.now() - startMs > MAX_WAIT_MS;
    const opened = await Promise.race([store.open(), untilAborted(signal)]);
    if (opened === undefined) return err({ code: 'SHUTTING_DOWN' });
    if (opened.ok) {
      log.info('the store is open', { waitedMs: Math.round(performance.now() - startMs) });
      return opened;
    }
    fault = opened.error;
    if (isOver || !canMend(fault)) return opened;
  }
}

function canMend(fault: Refusal): boolean {
  return fault.code === 'STORE_UNAVAILABLE' && fault.isLasting !== true;
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}
