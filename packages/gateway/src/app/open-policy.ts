import { ok } from '@assay-mcp/kit/result';
import { createSteadyClock } from '../core/token.ts';
import type { CallPolicy } from '../gateway/catalog/call-policy.ts';
import { SessionLabels } from '../gateway/catalog/session-labels.ts';
import { TokenPreferences } from '../gateway/services/token-preferences.ts';
import type { Environment } from './environment.ts';
import type { Records } from './records.ts';

/** A command does not create a store for labels that have no effect. */
export function openLabels(
  { store, log, cleanup }: Environment,
  policy: CallPolicy,
  hasStore: boolean,
): SessionLabels {
  const labels = new SessionLabels({
    open: () => store.open(),
    isKept: () => hasStore || policy.current.enforcesLabels === 'all',
    idleMs: () => policy.labelIdleMs,
    nowMs: createSteadyClock(),
    log,
  });
  cleanup.defer(() => labels.close());
  return labels;
}

/** The preferences of tokens. */
export function openTokenPreferences(
  { store, configEnvironment }: Environment,
  { isStored, records, file }: { isStored: boolean; records: Records; file: ReadonlyMap<string, unknown> },
): { readonly tokenPreferences: TokenPreferences; readonly identify: TokenPreferences['identify'] } {
  const none = { tokens: () => Promise.resolve(ok([])) };
  const tokenPreferences = new TokenPreferences({
    records: records.records,
    openStore: () => (isStored ? store.open() : Promise.resolve(ok(none))),
    env: configEnvironment.env,
    file,
    nowMs: createSteadyClock(),
  });
  return { tokenPreferences, identify: tokenPreferences.identify };
}
