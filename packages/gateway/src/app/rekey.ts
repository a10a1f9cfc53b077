import { createResealing } from '../adapters/auth/resealing.ts';
import type { AppOptions } from '../core/command-options.ts';
import type { Refusal } from '../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import { toEntrySealName } from '../gateway/services/bundles/entry-records.ts';
import { rekeyStore, type RekeyOptions, type RekeyReport } from '../gateway/services/store/rekey.ts';
import { pause } from '@assay-mcp/kit/platform/pause';
import { withEnvironment } from './environment.ts';

/** Re-encrypts the store of a home, beside running gateways. It needs their keys, so it reads the same variables. */
export function rekey(
  options: AppOptions,
  onProgress: RekeyOptions['onProgress'],
): Promise<Result<RekeyReport, Refusal>> {
  return withEnvironment({ ...options, isQuiet: true, transport: 'pipe' }, async (environment) => {
    const store = await environment.store.open();
    if (!store.ok) return store;
    return rekeyStore({
      store: store.value,
      resealing: createResealing(environment.keys, toEntrySealName),
      nowMs: () => Date.now(),
      pause,
      onProgress,
    });
  });
}
