import { expect, it } from 'vitest';
import { err, ok } from '@assay-mcp/kit/result';
import { meterStore } from '../../../src/adapters/store/metered-store.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';

it('times reads and writes, and counts as failures only what the store could not do', async () => {
  const counted: string[] = [];
  class Inner {
    readonly #fault = { code: 'STORE_MOVED', path: 'x' };
    get fault() {
      return this.#fault;
    }
    tokens = () => Promise.resolve(ok([]));
    addKey = () => Promise.resolve(err({ code: 'STORE_UNAVAILABLE', reason: 'the disk is full' }));
    addToken = () => Promise.resolve(err({ code: 'TOKEN_EXISTS', name: 'a' }));
    saveLabels = () => Promise.reject(new Error('a bug'));
    onChange = () => () => this.#fault.code;
  }
  const store = meterStore(new Inner() as unknown as Store, {
    stored: (operation, ms, isDone) => void counted.push(`${operation} ${isDone} ${ms >= 0}`),
  });
  await store.tokens();
  await store.addKey({ id: 'a', purpose: 'p', bytes: Buffer.alloc(1), createdMs: 0 });
  await store.addToken({} as never);
  await expect(store.saveLabels({} as never)).rejects.toThrow('a bug');
  expect(counted).toEqual(['read true true', 'write false true', 'write true true', 'write false true']);
  expect(store.fault?.code).toBe('STORE_MOVED');
  const unsubscribe: () => unknown = store.onChange(() => undefined);
  expect(unsubscribe()).toBe('STORE_MOVED');
});
