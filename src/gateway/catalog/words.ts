import type { AuditEvent } from '../../core/audit-event.ts';
import type { ServerWord } from '../../core/hints/hint.ts';
import { toolWordIn, type ToolWord } from '../../core/hints/tool-word.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { unsavedReason } from '../../core/errors.ts';
import type { CommitStore } from '../ports/commit.ts';
import type { Store } from '../ports/store.ts';
import type {
  AcceptedDefinition,
  StoredWord,
  Word,
  WordChange,
  WordKind,
  WordStore,
  WordsMemory,
} from '../ports/words.ts';

export interface WordsOptions {
  /** Opens the store, or gives the one that is open. Asked once, when somebody first needs it. */
  readonly open: () => Promise<Result<WordStore & CommitStore & Pick<Store, 'onChange'>, Refusal>>;
  readonly memory: WordsMemory;
}

/** What is to become of a word. The same body: nothing is to be kept. */
export interface WordEdit<T> {
  readonly body: unknown;
  readonly value: T;
  readonly deed?: AuditEvent | undefined;
  readonly accepted?: AcceptedDefinition | undefined;
  /** Other words that change in the same transaction. */
  readonly also?: readonly WordChange[] | undefined;
  /** Words that were looked at, and must not change meanwhile. */
  readonly expected?: readonly Pick<Word, 'kind' | 'id'>[] | undefined;
  readonly lowers?: Lowering | undefined;
}

/** What takes rights away in a change, and no more of it: it holds in this process even where it cannot be stored. */
export interface Lowering {
  readonly word: Word;
  /** What people are told that it is of. */
  readonly kind: 'tool' | 'gateway';
  readonly name: string;
}

/** How often a change is tried that others come before; each time somebody's is done. */
const MOST_TRIES = 1_000;

/** All words of the store, as any process on it changes them. */
export class Words {
  readonly #options: WordsOptions;
  #stored: Map<string, StoredWord>;
  #revision = 0;
  #isKnown = false;
  #opening: ReturnType<WordsOptions['open']> | undefined;
  #ready: Promise<Result<undefined, Refusal>> | undefined;
  #endListening: (() => void) | undefined;
  #reading: Promise<Result<undefined, Refusal>> | undefined;
  readonly #listeners = new Set<(words: readonly Word[]) => void>();
  /** Words that take rights away and could not be stored. They hold until the word is stored again, or this process ends. */
  readonly #unsaved = new Map<string, Word>();

  constructor(options: WordsOptions) {
    this.#options = options;
    this.#stored = new Map(options.memory.recalled.map((word) => [keyOf(word), { ...word, revision: 0 }]));
  }

  /** Resolves when the store was read, and follows it from then on. STORE_UNAVAILABLE where it cannot be, for now. */
  ready(): Promise<Result<undefined, Refusal>> {
    if (this.#isKnown) return Promise.resolve(ok(undefined));
    this.#ready ??= this.#follow().then((done) => {
      this.#ready = undefined;
      return done;
    });
    return this.#ready;
  }

  tool(id: string): ToolWord | undefined {
    return toolWordIn(this.find('tool', id)?.body);
  }

  server(id: string): ServerWord | undefined {
    const here = this.#unsaved.get(keyOf({ kind: 'server', id }));
    return (here ?? this.find('server', id))?.body as ServerWord | undefined; // written by the service of such records
  }

  find(kind: WordKind, id: string): StoredWord | undefined {
    return this.#stored.get(keyOf({ kind, id }));
  }

  /** Those with something to say. */
  all(kind: WordKind): readonly StoredWord[] {
    return [...this.#stored.values()].filter((word) => word.kind === kind && word.body !== undefined);
  }

  /** Told after each change, whoever made it. The returned function ends it. */
  onChange(listener: (words: readonly Word[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Changes a word as it is when nobody else changes it meanwhile. */
  async change<T>(
    { kind, id }: Pick<Word, 'kind' | 'id'>,
    edit: (body: unknown) => Result<WordEdit<T>, Refusal> | Promise<Result<WordEdit<T>, Refusal>>,
  ): Promise<Result<T, Refusal>> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const ready = await this.ready();
      if (!ready.ok) return ready;
      const former = this.find(kind, id);
      const edited = await edit(former?.body);
      if (!edited.ok) return edited;
      const { body, value, deed, accepted, also = [], expected = [], lowers } = edited.value;
      const isSame = body === former?.body && accepted === undefined;
      if (isSame && also.length === 0) return ok(value);
      // Expected unchanged also where only the others change.
      const own: WordChange = { word: { kind, id, body }, former: former?.revision, deed, accepted };
      const saved = await this.save([own, ...also], expected);
      if (!saved.ok) return err(this.#lowered(lowers, saved.error));
      if (saved.value) return ok(value);
    }
    return err({ code: 'STORE_UNAVAILABLE', reason: 'others keep changing the same' });
  }

  /** All or nothing. Returns false on a write conflict; the local copy is then current. */
  async save(
    changes: readonly WordChange[],
    expected: readonly Pick<Word, 'kind' | 'id'>[] = [],
  ): Promise<Result<boolean, Refusal>> {
    const store = await this.store();
    if (!store.ok) return store;
    const saved = await store.value.commit({
      changes: changes.map(({ word, accepted }) => ({ kind: 'word', word, accepted })),
      expectedRevisions: [
        ...changes.map(({ word: { kind, id }, former }) => ({ word: { kind, id }, revision: former })),
        ...expected.map(({ kind, id }) => ({ word: { kind, id }, revision: this.find(kind, id)?.revision })),
      ].map((one) => ({ kind: 'word', ...one })),
      audit: changes.flatMap(({ deed }) => deed ?? []),
    });
    if (!saved.ok) return saved;
    const read = await this.#read(store.value);
    if (saved.value === undefined) return read.ok ? ok(false) : read;
    // The commit is durable: a store that cannot be read afterwards must not fail the request.
    if (!read.ok) this.#take(saved.value.words, this.#revision);
    return ok(true);
  }

  /** Resolves when what the store holds now is known here. */
  async readAgain(): Promise<Result<undefined, Refusal>> {
    const ready = await this.ready();
    if (!ready.ok) return ready;
    const store = await this.store();
    return store.ok ? this.#read(store.value) : store;
  }

  store(): ReturnType<WordsOptions['open']> {
    this.#opening ??= this.#options.open().then((opened) => {
      // Another try may find it.
      if (!opened.ok) this.#opening = undefined;
      return opened;
    });
    return this.#opening;
  }

  async close(): Promise<void> {
    this.#endListening?.();
    this.#listeners.clear();
    await this.#reading;
    await this.#options.memory.flush();
  }

  async #follow(): Promise<Result<undefined, Refusal>> {
    const store = await this.store();
    if (!store.ok) return store;
    this.#endListening ??= store.value.onChange((parts) => {
      if (parts.includes('words')) void this.#read(store.value);
    });
    return this.#read(store.value);
  }

  /** Reads one after the other, so that what was read last is what counts. */
  #read(store: WordStore): Promise<Result<undefined, Refusal>> {
    const before = this.#reading ?? Promise.resolve(ok(undefined));
    const next = async (): Promise<Result<undefined, Refusal>> => {
      const news = await store.words(this.#revision);
      if (!news.ok) return news;
      this.#take(news.value.words, news.value.revision);
      return ok(undefined);
    };
    // One that failed keeps no later one from being tried.
    this.#reading = before.then(next, next);
    return this.#reading;
  }

  /** Lets what could not be stored hold here where it takes rights away; the stored word stays what changes begin with. */
  #lowered(lowers: Lowering | undefined, refusal: Refusal): Refusal {
    const reason = unsavedReason(refusal);
    if (lowers === undefined || reason === undefined) return refusal;
    const { word } = lowers;
    this.#unsaved.set(keyOf(word), word);
    for (const listener of [...this.#listeners]) listener([word]);
    return { code: 'REVOCATION_UNSAVED', kind: lowers.kind, name: lowers.name, reason };
  }

  #take(read: readonly StoredWord[], revision: number): void {
    const isFirst = !this.#isKnown;
    const recalled = isFirst ? [...this.#stored.values()] : [];
    if (isFirst) this.#stored = new Map();
    // A word that this process committed may be known before it is read.
    const words = read.filter((word) => this.#stored.get(keyOf(word))?.revision !== word.revision);
    for (const word of words) {
      this.#stored.set(keyOf(word), word);
      this.#unsaved.delete(keyOf(word));
    }
    this.#revision = revision;
    this.#isKnown = true;
    if (words.length === 0 && recalled.length === 0) return;
    this.#options.memory.remember([...this.#stored.values()]);
    const gone = recalled.filter((word) => !this.#stored.has(keyOf(word)));
    const changed = [...words, ...gone.map(({ kind, id }) => ({ kind, id, body: undefined }))];
    for (const listener of [...this.#listeners]) listener(changed);
  }
}

function keyOf({ kind, id }: Pick<Word, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}
