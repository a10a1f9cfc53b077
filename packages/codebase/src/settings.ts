import { findNearest } from '@assay-mcp/kit/nearest';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import {
  type EmbeddingSettings,
  readEmbeddingSettings,
  type SettingFault,
} from './embeddings/embedding-settings.ts';

export interface CodebaseSettings {
  /** Larger files are skipped. Undefined: the indexer's default. */
  readonly maxFileBytes: number | undefined;
  /** Maximum size of all indexes together. Undefined: the indexer's default. */
  readonly maxIndexBytes: number | undefined;
  /** Number of threads that parse. Undefined: the indexer's default. */
  readonly threads: number | undefined;
  /** Whether a server reindexes changed files in the background. */
  readonly isWatching: boolean;
  /** Undefined if no embedding service is configured. */
  readonly embeddings: EmbeddingSettings | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = 'ASSAY_CODEBASE_';
const MAX_FILE_BYTES = `${PREFIX}MAX_FILE_BYTES`;
const MAX_INDEX_BYTES = `${PREFIX}MAX_INDEX_BYTES`;
const THREADS = `${PREFIX}THREADS`;
const WATCH = `${PREFIX}WATCH`;
const EMBEDDINGS = `${PREFIX}EMBEDDINGS_`;
const KNOWN: readonly string[] = [
  MAX_FILE_BYTES,
  MAX_INDEX_BYTES,
  THREADS,
  WATCH,
  `${PREFIX}VECTORS_URL`,
  ...['URL', 'KIND', 'MODEL', 'KEY', 'BATCH', 'TIMEOUT_MS', 'QUERY_TIMEOUT_MS'].map(
    (name) => EMBEDDINGS + name,
  ),
  ...['DOCUMENT_PREFIX', 'QUERY_PREFIX'].map((name) => EMBEDDINGS + name),
];

/** The settings of the program, from variables whose names begin with `ASSAY_CODEBASE_`. */
export function readSettings(environment: Environment): Result<CodebaseSettings, SettingFault> {
  const unknown = Object.keys(environment).find(
    (name) => name.startsWith(PREFIX) && !KNOWN.includes(name) && environment[name] !== undefined,
  );
  if (unknown !== undefined) return err(unknownFault(unknown));
  const maxFileBytes = wholeNumber(environment, MAX_FILE_BYTES, [1_024, 16_777_216]);
  const maxIndexBytes = wholeNumber(environment, MAX_INDEX_BYTES, [16_777_216, 1_099_511_627_776]);
  const threads = wholeNumber(environment, THREADS, [1, 16]);
  const isWatching = readSwitch(environment, WATCH);
  const embeddings = readEmbeddingSettings(environment);
  if (!maxFileBytes.ok) return maxFileBytes;
  if (!maxIndexBytes.ok) return maxIndexBytes;
  if (!threads.ok) return threads;
  if (!isWatching.ok) return isWatching;
  if (!embeddings.ok) return embeddings;
  return ok({
    maxFileBytes: maxFileBytes.value,
    maxIndexBytes: maxIndexBytes.value,
    threads: threads.value,
    isWatching: isWatching.value,
    embeddings: embeddings.value,
  });
}

function unknownFault(setting: string): SettingFault {
  const meant = findNearest(setting, KNOWN);
  const remedy = meant === undefined ? 'Unset it.' : `Did you mean ${meant}?`;
  return { setting, problem: 'is not a setting.', remedy };
}

/** An empty variable counts as unset. */
function wholeNumber(
  environment: Environment,
  name: string,
  [min, max]: readonly [number, number],
): Result<number | undefined, SettingFault> {
  const text = environment[name] ?? '';
  if (text === '') return ok(undefined);
  const value = /^\d{1,13}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return ok(value);
  const remedy = `Set it to a whole number from ${min} to ${max}, or unset it.`;
  return err({ setting: name, problem: 'is not valid.', remedy });
}

/** On unless the variable says otherwise. */
function readSwitch(environment: Environment, name: string): Result<boolean, SettingFault> {
  const text = environment[name] ?? '';
  if (text === '' || text === 'on') return ok(true);
  if (text === 'off') return ok(false);
  return err({ setting: name, problem: 'is not valid.', remedy: 'Set it to on or off, or unset it.' });
}
