import { fileURLToPath } from 'node:url';
import { fileFacts, fileMarkOf } from '../../../platform/files.ts';

/** Tells when a file may have changed; what it gives ends that. */
export type WatchFile = (path: string, listener: () => void) => () => void;

export interface Watching {
  /** The files that count from now on, by their URLs. */
  follow(urls: readonly string[]): void;
  onChange(listener: () => void): () => void;
  close(): void;
}

/** Watches nothing while nobody listens. */
export function watchDocuments(watch: WatchFile): Watching {
  const listeners = new Set<() => void>();
  const ending = new Map<string, () => void>();
  let paths: readonly string[] = [];
  const tell = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const settle = (): void => {
    const wanted = new Set(listeners.size === 0 ? [] : paths);
    for (const [path, end] of [...ending]) {
      if (wanted.has(path)) continue;
      end();
      ending.delete(path);
    }
    for (const path of wanted) if (!ending.has(path)) ending.set(path, watch(path, tell));
  };
  return {
    follow: (urls) => {
      paths = urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
      settle();
    },
    onChange: (listener) => {
      // Each listening is one of its own, also of a function that listens already.
      const own = (): void => listener();
      listeners.add(own);
      settle();
      return () => {
        listeners.delete(own);
        settle();
      };
    },
    close: () => {
      listeners.clear();
      settle();
    },
  };
}

const LOOK_EVERY_MS = 2_000;

/** Looks at the file itself, every now and then. */
export const lookAtFile: WatchFile = (path, listener) => {
  let before: string | undefined;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const now = fileMarkOf(await fileFacts(path));
    const hasChanged = before !== undefined && before !== now;
    before = now;
    isLooking = false;
    if (hasChanged) listener();
  };
  void look();
  const looking = setInterval(() => void look(), LOOK_EVERY_MS);
  looking.unref();
  return () => clearInterval(looking);
};
