import { ok } from './core/result.ts';
import type { Settings } from './core/settings.ts';
import { openAsking, type Asking } from './gateway/catalog/asking.ts';
import type { Sealer } from './gateway/ports/sealer.ts';
import type { Store } from './gateway/ports/store.ts';
import { openHomeStore, type Ground } from './ground.ts';

export interface SealingOptions {
  readonly ground: Pick<Ground, 'home' | 'log'>;
  readonly settings: Settings;
  /** One that stands already; else the store is opened when there is something to seal, and closed again. */
  readonly store: Store | undefined;
}

/** What is needed where servers ask. Its ciphers are loaded when the first of them does. */
export function askingWith({ ground, settings, store }: SealingOptions): Asking {
  let sealer: Promise<Sealer> | undefined;
  const load = async (): Promise<Sealer> => {
    const { KeySealer } = await import('./adapters/auth/sealer.ts');
    return new KeySealer({
      log: ground.log,
      withStore: async (use) => {
        const opened = store === undefined ? await openHomeStore(ground) : ok(store);
        if (!opened.ok) return opened;
        const used = await use(opened.value);
        if (store === undefined) await opened.value.close();
        return used;
      },
    });
  };
  const loaded = (): Promise<Sealer> => (sealer ??= load());
  const replica = `${process.pid} ${Date.now()} ${Math.random()}`;
  return openAsking({
    replica,
    limits: settings,
    sealer: {
      seal: async (text, sealing) => (await loaded()).seal(text, sealing),
      open: async (sealed, opening) => (await loaded()).open(sealed, opening),
    },
  });
}
