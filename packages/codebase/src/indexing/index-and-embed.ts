import { err, ok, type Result } from '@assay-mcp/kit/result';
import { getErrorCode } from '@assay-mcp/kit/platform/sqlite';
import type { EmbeddingSettings } from '../embeddings/embedding-settings.ts';
import { formatIndexRefusal, type IndexRefusal } from '../store/index-refusal.ts';
import { writeRunRecord, type RunRecord } from '../store/run-record.ts';
import { isAtLimit } from '../store/index-size.ts';
import { toIndexRefusal } from '../store/sqlite-faults.ts';
import { readGitHead } from '../files/git-head.ts';
import type { IndexReport } from './index-report.ts';
import { runIndex, type IndexRunOptions } from './index-run.ts';

export interface IndexAndEmbedOptions extends IndexRunOptions {
  /** Path of the database. */
  readonly path: string;
  /** For messages. */
  readonly maxIndexBytes: number;
  /** Undefined if no embedding service is configured. */
  readonly embeddings: EmbeddingSettings | undefined;
}

/**
 * Brings the index of a repository up to date, then embeds chunks that lack a vector. A failure of the embedding
 * service makes the run partial; the text index is complete and visible by then.
 */
export async function indexAndEmbed(
  options: IndexAndEmbedOptions,
): Promise<Result<IndexReport, IndexRefusal>> {
  const startedAtMs = performance.now();
  try {
    const report = await runIndex(options);
    const { embeddings } = options;
    if (embeddings === undefined || report.files_total === 0) return ok(report);
    const embedded = await embed(report, options, embeddings);
    const seconds = Math.round(performance.now() - startedAtMs) / 1_000;
    const whole = { ...embedded, duration_seconds: seconds };
    record(options, whole);
    return ok(whole);
  } catch (error) {
    if (options.signal.aborted) return err({ code: 'CANCELLED' });
    const refusal = toRunRefusal(error, { ...options, root: options.repository.path });
    const { message } = formatIndexRefusal(refusal);
    record(options, { duration_seconds: 0, status: 'failed', errors: [message], skipped: {} });
    return err(refusal);
  }
}

async function embed(
  report: IndexReport,
  { database, repository, force, signal, onProgress }: IndexRunOptions,
  settings: EmbeddingSettings,
): Promise<IndexReport> {
  onProgress({ phase: 'embedding', done: 0 });
  // Loaded here, as most installations have no embedding service.
  const { embedRepository } = await import('../embeddings/embed-repository.ts');
  const { status, errors } = await embedRepository(settings, {
    db: database,
    repositoryId: repository.id,
    force,
    signal,
    onProgress: (done, total) => onProgress({ phase: 'embedding', done, total }),
  });
  return status === 'complete'
    ? report
    : { ...report, status: 'partial', errors: [...report.errors, ...errors] };
}

/** The refusal for an error of a run on a repository at `root`. Rethrows a bug. */
export function toRunRefusal(
  error: unknown,
  {
    path,
    root,
    maxIndexBytes,
  }: Pick<IndexAndEmbedOptions, 'path' | 'maxIndexBytes'> & { readonly root: string },
): IndexRefusal {
  // Not from SQLite: it is from the walk, which throws if it cannot read the root.
  if (/^E[A-Z]+$/.test(getErrorCode(error))) {
    const reason = `it cannot be read (${getErrorCode(error)})`;
    return { code: 'PATH_INVALID', path: root, reason };
  }
  if (isAtLimit(error, path)) return { code: 'INDEX_FULL', maxBytes: maxIndexBytes };
  const refusal = toIndexRefusal(error, path);
  if (refusal === undefined) throw error;
  return refusal;
}

/** For `index_status`, if the database can still be written. */
function record(
  { database, repository, path }: IndexAndEmbedOptions,
  { duration_seconds, status, errors, skipped, skipped_largest }: Omit<RunRecord, 'ended_at'>,
): void {
  const ended_at = new Date().toISOString();
  const git = readGitHead(repository.path);
  const lastRun = writeRunRecord({
    ended_at,
    git,
    duration_seconds,
    status,
    errors,
    skipped,
    skipped_largest,
  });
  try {
    database.prepare('UPDATE repositories SET last_run = ? WHERE id = ?').run(lastRun, repository.id);
  } catch (error) {
    if (toIndexRefusal(error, path) === undefined) throw error;
  }
}
