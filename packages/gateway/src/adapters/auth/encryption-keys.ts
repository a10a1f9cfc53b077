import { join } from 'node:path';
import { Listeners } from '../../core/listeners.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../core/sentences.ts';
import type { Log } from '../../gateway/ports/log.ts';
import { readFileFacts, toFileMark } from '@assay-mcp/kit/platform/files';
import type { PathChecks } from '@assay-mcp/kit/platform/path-safety';
import {
  ensureHomeKey,
  HOME_KEY_FILE,
  parseKey,
  readHomeKey,
  toUnusable,
  type EncryptionKey,
} from './encryption-key.ts';
import { readKeyFile } from './key-file.ts';

export interface EncryptionKeysOptions {
  readonly home: string;
  /** Absolute path from ASSAY_KEY_FILE. */
  readonly file: string | undefined;
  /** ASSAY_ENCRYPTION_KEY. */
  readonly given: string | undefined;
  readonly checks: PathChecks;
  readonly log: Log;
}

const FILE_VARIABLE = 'ASSAY_KEY_FILE';
const KEY_VARIABLE = 'ASSAY_ENCRYPTION_KEY';
/** Time in ms for which the files are not looked at again, unless a key is missing. */
const FRESH_MS = 1_000;

/**
 * The keys that encrypt what the store must not reveal, newest first: those of ASSAY_KEY_FILE or ASSAY_ENCRYPTION_KEY,
 * then that of the home. The first encrypts, all decrypt. A changed file counts within a second; while it cannot be read,
 * the last keys stay in use.
 */
export class EncryptionKeys {
  readonly #options: EncryptionKeysOptions;
  readonly #listeners = new Listeners<[keys: readonly EncryptionKey[]]>();
  #known: readonly EncryptionKey[] | undefined;
  #mark: string | undefined;
  #checkedMs = -Infinity;
  #reading: Promise<Result<readonly EncryptionKey[], Refusal>> | undefined;
  #warned: string | undefined;

  constructor(options: EncryptionKeysOptions) {
    this.#options = options;
  }

  /** Whether several homes can have the same keys, because a variable names them. */
  get isShared(): boolean {
    return this.#options.file !== undefined || this.#options.given !== undefined;
  }

  /** Path of ASSAY_KEY_FILE. */
  get file(): string | undefined {
    return this.#options.file;
  }

  /** All keys, newest first; empty if none was created yet. `isFresh`: looks at the files in any case. KEY_UNUSABLE */
  async read(isFresh = false): Promise<Result<readonly EncryptionKey[], Refusal>> {
    if (this.#known !== undefined && !isFresh && performance.now() - this.#checkedMs < FRESH_MS)
      return ok(this.#known);
    this.#reading ??= this.#readNow().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /** All keys. Looks at the files again if one of these ids is unknown. KEY_UNUSABLE */
  async readFor(ids: Iterable<string>): Promise<Result<readonly EncryptionKey[], Refusal>> {
    const known = await this.read();
    if (!known.ok) return known;
    for (const id of ids) if (!known.value.some((key) => key.id === id)) return this.read(true);
    return known;
  }

  /**
   * The key that encrypts what is stored. Creates one in the home if there is none. Looks at the files in any case: what a
   * key encrypts that was just removed from the file would be lost. KEY_UNUSABLE
   */
  async ensure(): Promise<Result<EncryptionKey, Refusal>> {
    const read = await this.read(true);
    if (!read.ok) return read;
    const [newest] = read.value;
    if (newest !== undefined) return ok(newest);
    const made = await ensureHomeKey(this.#options.home);
    if (!made.ok) return made;
    const again = await this.read(true);
    return again.ok ? ok(again.value[0] ?? made.value) : again;
  }

  /** Calls back with the keys after they changed. Returns a function that unsubscribes. */
  onChange(listener: (keys: readonly EncryptionKey[]) => void): () => void {
    return this.#listeners.add(listener);
  }

  async #readNow(): Promise<Result<readonly EncryptionKey[], Refusal>> {
    // Before reading, so that a write in between is noticed the next time.
    const mark = await this.#readMark();
    this.#checkedMs = performance.now();
    if (this.#known !== undefined && mark === this.#mark) return ok(this.#known);
    const read = await this.#readAll();
    const former = this.#known;
    if (read.ok && (read.value.length > 0 || former === undefined)) {
      this.#mark = mark;
      this.#warned = undefined;
      this.#known = read.value;
      if (former !== undefined && joinIds(former) !== joinIds(read.value)) this.#listeners.notify(read.value);
      return read;
    }
    if (former === undefined || former.length === 0) return read;
    this.#warn(read.ok ? 'there is no such file' : formatRefusal(read.error));
    return ok(former);
  }

  /** Once for each reason. */
  #warn(reason: string): void {
    if (this.#warned === reason) return;
    this.#warned = reason;
    this.#options.log.warn('could not re-read the encryption keys; keeping the previous ones', {
      code: 'KEY_UNUSABLE',
      reason,
    });
  }

  async #readMark(): Promise<string> {
    const { home, file } = this.#options;
    const paths = [...(file === undefined ? [] : [file]), join(home, HOME_KEY_FILE)];
    const facts = await Promise.all(paths.map((path) => readFileFacts(path)));
    return JSON.stringify(facts.map(toFileMark));
  }

  async #readAll(): Promise<Result<readonly EncryptionKey[], Refusal>> {
    const { home } = this.#options;
    const shared = await this.#readShared();
    if (!shared.ok) return shared;
    const own = await readHomeKey(home);
    // Beside other keys, that of the home only opens what it sealed before.
    if (!own.ok && shared.value.length === 0) return own;
    const more = own.ok && own.value !== undefined ? [own.value] : [];
    return ok([...shared.value, ...more.filter(({ id }) => !shared.value.some((key) => key.id === id))]);
  }

  async #readShared(): Promise<Result<readonly EncryptionKey[], Refusal>> {
    const { file, given, checks } = this.#options;
    if (file !== undefined && given !== undefined)
      return err(
        toUnusable(
          FILE_VARIABLE,
          `${KEY_VARIABLE} is set, too; add that key to the file as its last line, and unset ${KEY_VARIABLE}`,
        ),
      );
    if (file !== undefined) {
      const keys = await readKeyFile(file, checks);
      return keys.ok ? keys : err(toUnusable(`${JSON.stringify(file)} (${FILE_VARIABLE})`, keys.error));
    }
    if (given === undefined) return ok([]);
    const key = parseKey(given, KEY_VARIABLE);
    return key.ok ? ok([key.value]) : err(toUnusable(KEY_VARIABLE, key.error));
  }
}

function joinIds(keys: readonly EncryptionKey[]): string {
  return keys.map(({ id }) => id).join(' ');
}

/** The key with this id. */
export function findKey(keys: readonly EncryptionKey[], id: string): EncryptionKey | undefined {
  return keys.find((key) => key.id === id);
}
