import { ok } from './core/result.ts';
import type { Store } from './gateway/ports/store.ts';
import { openHomeStore, type Ground } from './ground.ts';

/** The store of the home, for all parts of a process that keep something there while it lasts. */
export interface HomeStore {
  /** Opened when somebody first needs it; one that could not be opened is tried again. */
  readonly open: () => ReturnType<typeof openHomeStore>;
  /** Closes it, if it was opened by this. */
  readonly close: () => Promise<void>;
}

/** `store`: one that is open already, and that somebody else closes. */
export function homeStore(ground: Ground, store: Store | undefined): HomeStore {
  let opening: ReturnType<typeof openHomeStore> | undefined;
  return {
    open: () => {
      if (store !== undefined) return Promise.resolve(ok(store));
      opening ??= openHomeStore(ground).then((opened) => {
        if (!opened.ok) opening = undefined;
        return opened;
      });
      return opening;
    },
    close: async () => {
      // Also one that was not open yet when this began.
      const own = await opening;
      if (own?.ok === true) await own.value.close();
    },
  };
}
