import { entrySeal } from './adapters/auth/seal.ts';
import { entryReader, localReader } from './adapters/config/registered-entry.ts';
import { openWordsFile } from './adapters/store/words-file.ts';
import { secretsOfServer } from './adapters/telemetry/secret-values.ts';
import type { ProsePolicy } from './core/hints/drift.ts';
import type { Plan } from './gateway/catalog/catalog.ts';
import { RegisteredGateways } from './gateway/catalog/registered.ts';
import { DriftWatch } from './gateway/catalog/drift-watch.ts';
import { ToolClaims } from './gateway/catalog/tool-claims.ts';
import { InstructionsReview } from './gateway/catalog/instructions-review.ts';
import type { EntrySeal, ReadEntry } from './gateway/ports/gateways.ts';
import type { ServerDeps } from './gateway/catalog/server-deps.ts';
import type { ReadLocal } from './gateway/ports/local-tools.ts';
import { Words } from './gateway/catalog/words.ts';
import { setting, type Ground } from './ground.ts';
import type { HomeStore } from './home-store.ts';
import { keyPlace } from './open-credentials.ts';

/** What is said of tools and servers beside what they say themselves. */
export interface OpenWords {
  readonly words: Words;
  readonly claims: ToolClaims;
  readonly drift: DriftWatch;
  readonly instructions: InstructionsReview;
  readonly registered: RegisteredGateways;
  readonly readEntry: ReadEntry;
  readonly readLocal: ReadLocal;
  readonly seal: EntrySeal;
  readonly close: () => Promise<void>;
}

/** What was said when this was last known; the store is read when somebody asks for it to be. */
export async function openWords(ground: Ground, store: HomeStore, prose: ProsePolicy): Promise<OpenWords> {
  const memory = await openWordsFile(ground.home, setting('ASSAY_DATABASE_URL'));
  const words = new Words({ open: store.open, memory });
  const claims = new ToolClaims(words, prose);
  const drift = new DriftWatch({ words, log: ground.log, prose, nowMs: () => Date.now() });
  const instructions = new InstructionsReview({ words, log: ground.log, nowMs: () => Date.now() });
  const readEntry = entryReader({ cwd: ground.home, home: ground.around.home });
  const seal = entrySeal(keyPlace(ground));
  const learn = ({ servers }: Plan): void => ground.secrets.add(servers.flatMap(secretsOfServer));
  const readLocal = localReader({ cwd: ground.home, home: ground.around.home });
  const registered = new RegisteredGateways({ words, readEntry, readLocal, seal, learn, log: ground.log });
  const close = async (): Promise<void> => {
    await drift.close();
    await words.close();
  };
  return { words, claims, drift, instructions, registered, readEntry, readLocal, seal, close };
}

/** What is accepted of servers; a process that lasts also compares what they say now. */
export function reviewing(
  said: OpenWords | undefined,
  isRecorded: boolean,
): Pick<ServerDeps, 'claims' | 'instructions' | 'onInstructions' | 'onTools'> {
  const { claims, instructions, drift } = said ?? {};
  return {
    claims,
    instructions,
    onInstructions: isRecorded ? (spec, now) => void instructions?.saw(spec, now) : undefined,
    onTools: isRecorded ? (...read) => drift?.saw(...read) : undefined,
  };
}
