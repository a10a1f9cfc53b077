import { openWordsFile } from './adapters/store/words-file.ts';
import { DriftWatch } from './gateway/hints/drift-watch.ts';
import { ToolClaims } from './gateway/hints/tool-claims.ts';
import { Words } from './gateway/words/words.ts';
import { setting, type Ground } from './ground.ts';
import type { HomeStore } from './home-store.ts';

/** What is said of tools and servers beside what they say themselves. */
export interface OpenWords {
  readonly words: Words;
  readonly claims: ToolClaims;
  readonly drift: DriftWatch;
  readonly close: () => Promise<void>;
}

/** What was said when this was last known; the store is read when somebody asks for it to be. */
export async function openWords(ground: Ground, store: HomeStore): Promise<OpenWords> {
  const memory = await openWordsFile(ground.home, setting('ASSAY_DATABASE_URL'));
  const words = new Words({ open: store.open, memory });
  const claims = new ToolClaims(words);
  const drift = new DriftWatch({ words, log: ground.log, nowMs: () => Date.now() });
  const close = async (): Promise<void> => {
    await drift.close();
    await words.close();
  };
  return { words, claims, drift, close };
}
