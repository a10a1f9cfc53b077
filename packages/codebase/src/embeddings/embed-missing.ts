import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { formatCount } from '@assay-mcp/kit/counted';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { EmbeddingFault, EmbeddingProvider } from './embedding-provider.ts';
import type { EmbeddingProgress, EmbeddingReport } from './embedding-report.ts';
import { formatEmbeddingFault, formatStoreFault } from './failure-text.ts';
import type { EmbeddedText, VectorStore } from './vector-store.ts';
import {
  countLacking,
  createVectorTables,
  hasVectorTables,
  listLackingChunks,
  findModel,
  registerModel,
  type ChunkText,
  type ModelRow,
} from './vector-tables.ts';
import { withRetries, type Clock } from './with-retries.ts';

export interface EmbedOptions {
  readonly db: Database;
  readonly repositoryId: string;
  /** Requests the model's dimension even if the index has it. */
  readonly force: boolean;
  readonly provider: EmbeddingProvider;
  /** Identifies the model and where its vectors are stored. Stored vectors are usable only with the same identity. */
  readonly identity: string;
  /** The model's name for people. */
  readonly name: string;
  readonly storeFor: (model: ModelRow) => Promise<VectorStore>;
  /** Maximum number of texts in a request. */
  readonly batch: number;
  /** Number of concurrent requests. */
  readonly concurrency: number;
  readonly limitMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: EmbeddingProgress;
}

const PAGE = 500;
const MAX_BATCH_CHARS = 256_000;
/** A run ends after this many failed requests in a row: the service is then at fault, not a text. */
const MAX_FAILURES = 8;
const MAX_ERRORS = 10;

/**
 * Embeds the live chunks of a repository that have no vector. Each batch is stored as soon as it is answered, so the
 * next run continues where this one ended. Failures of the service and of the database are reported.
 */
export async function embedMissing(options: EmbedOptions): Promise<EmbeddingReport> {
  return new EmbedRun(options).run();
}

type Batch = readonly EmbeddedText['chunks'][];

class EmbedRun {
  readonly #options: EmbedOptions;
  readonly #errors = new Set<string>();
  #embedded = 0;
  #cached = 0;
  #given = 0;
  #total = 0;
  #failures = 0;
  /** Ends the requests of a run that has failed. */
  readonly #stopping = new AbortController();
  readonly #signal: AbortSignal;

  constructor(options: EmbedOptions) {
    this.#options = options;
    const { signal } = this.#stopping;
    this.#signal = options.signal === undefined ? signal : AbortSignal.any([options.signal, signal]);
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async run(): Promise<EmbeddingReport> {
    const { db, repositoryId, identity, force, storeFor } = this.#options;
    if (!hasVectorTables(db)) createVectorTables(db);
    let model = findModel(db, identity);
    this.#total = countLacking(db, { repositoryId, modelId: model?.id });
    if (force || (this.#total > 0 && model === undefined)) {
      model = await this.#currentModel(model);
      if (model !== undefined) this.#total = countLacking(db, { repositoryId, modelId: model.id });
    }
    if (model !== undefined && this.#total > 0) {
      const found = model;
      await this.#storing(async () => this.#embedAll(found, await storeFor(found)));
    }
    return this.#report();
  }

  /** The model with its current dimension. Undefined if the service does not answer. */
  async #currentModel(known: ModelRow | undefined): Promise<ModelRow | undefined> {
    const { db, identity, name } = this.#options;
    const vectors = await this.#request(['dimension'], { isRepeated: true });
    if (!vectors.ok) {
      this.#stop(formatEmbeddingFault(vectors.error));
      return undefined;
    }
    const dimension = vectors.value[0]?.length ?? 0;
    if (known?.dimension === dimension) return known;
    return registerModel(db, { identity, name, dimension });
  }

  async #embedAll(model: ModelRow, store: VectorStore): Promise<void> {
    const batches = this.#batches(model, store);
    const work = async (): Promise<void> => {
      for (;;) {
        const next = this.#isStopped ? undefined : await batches.next();
        if (next === undefined || next.done === true) return;
        await this.#storing(() => this.#embed(next.value, { model, store, isRepeated: true }));
      }
    };
    const workers = Array.from({ length: this.#options.concurrency }, work);
    for (const ended of await Promise.allSettled(workers))
      if (ended.status === 'rejected') throw ended.reason;
    await store.clean();
  }

  async *#batches(model: ModelRow, store: VectorStore): AsyncGenerator<Batch, undefined> {
    const { db, repositoryId, batch: maxTexts } = this.#options;
    let batch: EmbeddedText['chunks'][] = [];
    let chars = 0;
    let after = 0;
    for (;;) {
      const page = listLackingChunks(db, { repositoryId, modelId: model.id }, { after, limit: PAGE });
      const linked = page.length === 0 ? new Set() : await store.link(page);
      this.#cached += linked.size;
      this.#progress(linked.size);
      for (const chunks of byText(page.filter(({ chunkId }) => !linked.has(chunkId)))) {
        const { length } = chunks[0].text;
        if (batch.length === maxTexts || (batch.length > 0 && chars + length > MAX_BATCH_CHARS)) {
          yield batch;
          [batch, chars] = [[], 0];
        }
        batch.push(chunks);
        chars += length;
      }
      after = page.at(-1)?.chunkId ?? after;
      if (page.length < PAGE || this.#isStopped) break;
    }
    if (batch.length > 0) yield batch;
    return undefined;
  }

  /** A batch that the service refuses is halved, down to the texts that it cannot embed. */
  async #embed(
    batch: Batch,
    target: { readonly model: ModelRow; readonly store: VectorStore; readonly isRepeated: boolean },
  ): Promise<void> {
    if (this.#isStopped) return;
    const texts = batch.map(([{ text }]) => text);
    const answered = await this.#request(texts, target);
    const vectors = answered.ok ? ofDimension(answered.value, target.model.dimension) : answered;
    const count = batch.reduce((sum, chunks) => sum + chunks.length, 0);
    if (vectors.ok) {
      this.#failures = 0;
      await target.store.add(paired(batch, vectors.value));
      this.#embedded += count;
      this.#progress(count);
      return;
    }
    this.#failures += 1;
    const text = formatEmbeddingFault(vectors.error);
    if (!mayBeAboutTexts(vectors.error) || this.#failures >= MAX_FAILURES) {
      this.#stop(text);
      return;
    }
    if (batch.length === 1) {
      this.#addError(text);
      this.#progress(count);
      return;
    }
    const middle = Math.ceil(batch.length / 2);
    await this.#embed(batch.slice(0, middle), { ...target, isRepeated: false });
    await this.#embed(batch.slice(middle), { ...target, isRepeated: false });
  }

  #request(
    texts: readonly string[],
    { isRepeated }: { readonly isRepeated: boolean },
  ): Promise<Result<readonly Float32Array[], EmbeddingFault>> {
    const { provider, limitMs, clock } = this.#options;
    const signal = this.#signal;
    const attempt = (): ReturnType<EmbeddingProvider['embed']> =>
      provider.embed(texts, { purpose: 'document', limitMs, signal });
    return isRepeated ? withRetries(attempt, clock, signal) : attempt();
  }

  /** Database errors have a code; everything else is a bug. */
  async #storing(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const text = formatStoreFault(error);
      this.#stop(text);
      if (text === undefined) throw error;
    }
  }

  /** The first cause counts: requests that end with the run are not separate errors. */
  #stop(text: string | undefined): void {
    if (!this.#isStopped && text !== undefined) this.#addError(text);
    this.#stopping.abort();
  }

  #addError(text: string): void {
    if (this.#errors.size < MAX_ERRORS) this.#errors.add(text);
  }

  #progress(count: number): void {
    if (count === 0) return;
    this.#given += count;
    this.#options.onProgress(this.#given, this.#total);
  }

  #report(): EmbeddingReport {
    const failed = this.#total - this.#embedded - this.#cached;
    const left = `${formatCount(failed, 'chunk')} without a vector: found by words only, until the next index_repository embeds them.`;
    return {
      status: failed === 0 && this.#errors.size === 0 ? 'complete' : 'partial',
      embedded: this.#embedded,
      cached: this.#cached,
      failed,
      errors: failed === 0 ? [...this.#errors] : [...this.#errors, left],
    };
  }
}

/** Equal texts, such as license headers, are sent once. */
function byText(chunks: readonly ChunkText[]): Iterable<EmbeddedText['chunks']> {
  const groups = new Map<string, [ChunkText, ...ChunkText[]]>();
  for (const chunk of chunks) {
    const key = chunk.hash.toString('base64');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [chunk]);
    else group.push(chunk);
  }
  return groups.values();
}

function paired(batch: Batch, vectors: readonly Float32Array[]): readonly EmbeddedText[] {
  return vectors.flatMap((vector, index) => {
    const chunks = batch[index];
    return chunks === undefined ? [] : [{ chunks, vector }];
  });
}

function ofDimension(
  vectors: readonly Float32Array[],
  dimension: number,
): Result<readonly Float32Array[], EmbeddingFault> {
  const other = vectors.find(({ length }) => length !== dimension);
  if (other === undefined) return ok(vectors);
  const problem = `answered with vectors of ${other.length} numbers instead of ${dimension}; if the model has changed, run index_repository with force_reindex`;
  return err({ code: 'ANSWER_INVALID', problem });
}

const ABOUT_TEXTS: ReadonlySet<number> = new Set([400, 413, 422, 500]);

/** Whether a smaller batch may succeed: a text may be too long, or make the model return NaN. */
function mayBeAboutTexts(fault: EmbeddingFault): boolean {
  if (fault.code === 'STATUS') return ABOUT_TEXTS.has(fault.status);
  return fault.code === 'ANSWER_INVALID' || fault.code === 'ANSWER_TOO_LARGE';
}
