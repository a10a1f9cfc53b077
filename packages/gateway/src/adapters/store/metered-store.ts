import type { Meter } from '../../gateway/ports/telemetry.ts';
import type { Store } from '../../gateway/ports/store.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { Refusal } from '../../core/refusal.ts';
import { OPERATIONS } from './store-operations.ts';

/** Refusals of a store that cannot do its work; others are answers. */
const FAULTS: ReadonlySet<string> = new Set(['STORE_UNAVAILABLE', 'STORE_MOVED', 'WRITE_UNCONFIRMED']);

/** A store whose calls are timed and counted. */
export function meterStore(store: Store, meter: Pick<Meter, 'stored'>): Store {
  const timed = new Map<string, unknown>();
  return new Proxy(store, {
    get(target, key) {
      // The store's own private members are not those of the proxy.
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function' || typeof key !== 'string') return member;
      if (!timed.has(key)) timed.set(key, timeCall(target, member as AnyCall, { key, meter }));
      return timed.get(key);
    },
  });
}

type AnyCall = (...args: unknown[]) => Promise<Result<unknown, Refusal>>;

function timeCall(
  store: Store,
  call: AnyCall,
  { key, meter }: { readonly key: string; readonly meter: Pick<Meter, 'stored'> },
): AnyCall {
  const operation = (OPERATIONS as Readonly<Record<string, 'read' | 'write' | undefined>>)[key];
  if (operation === undefined) return call.bind(store);
  return async (...args) => {
    const beganMs = performance.now();
    let isDone = false;
    try {
      const result = await call.apply(store, args);
      isDone = result.ok || !FAULTS.has(result.error.code);
      return result;
    } finally {
      meter.stored(operation, performance.now() - beganMs, isDone);
    }
  };
}
