import { dirname, isAbsolute } from 'node:path';
import { sha256 } from '@assay-mcp/kit/digest';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import type { UnsafePath } from './support.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Command } from './rights.ts';
import { ensureFolder, readWhole, writeUnlessChanged, type WholeFile } from '@assay-mcp/kit/platform/files';
import type { Shown } from './confined-view.ts';
import { type DeclaredPaths, type RecallDeclared, resolveDeclared } from './declared-paths.ts';

/** The file in Assay's home. Paths belong to one machine, so they are not in a store that machines may share. */
export const DECLARED_FILE = 'sandbox-paths.json';

/** Where the paths that entries declare led when they were first read. */
export interface DeclaredStore {
  /** Resolves and stores what is not stored yet. */
  readonly recall: RecallDeclared;
  /** What is stored. Undefined if the entry has not been read before. */
  readonly peek: (command: Command) => Promise<Result<DeclaredPaths | undefined, UnsafePath>>;
  /** Real paths of all roots that are stored. */
  readonly allRoots: () => Promise<readonly string[]>;
  /** Replaces what is stored. */
  readonly renew: (command: Command, paths: DeclaredPaths) => Promise<Result<DeclaredPaths, UnsafePath>>;
}

/** Maximum number of entries; the ones stored first are dropped. */
const MAX_ENTRIES = 1_000;
/** Attempts to write the file while other processes write it, too. */
const MAX_ATTEMPTS = 20;

/** Opens the file at a path. Each call reads it, because other processes write it, too. */
export function openDeclaredStore(path: string): DeclaredStore {
  const unreadable = err<UnsafePath>({ reason: 'unreadable', path });
  const set = async (command: Command, paths?: DeclaredPaths): Promise<Result<DeclaredPaths, UnsafePath>> => {
    const digest = declarationDigest(command);
    let resolved = paths;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const file = await readEntries(path);
      if (file === undefined) return unreadable;
      const known = file.entries.get(digest);
      if (paths === undefined && known !== undefined) return ok(known);
      resolved ??= await resolveDeclared(command);
      file.entries.delete(digest);
      file.entries.set(digest, resolved);
      const text = textOf(file.entries);
      if (!(await ensureFolder(dirname(path))).ok) return unreadable;
      const written = await writeUnlessChanged(path, file.former?.text, { text, mode: 0o600 });
      if (!written.ok) return unreadable;
      if (written.value === 'written') return ok(resolved);
    }
    return unreadable;
  };
  return {
    recall: (command) => set(command),
    renew: set,
    allRoots: async () => {
      const { entries = new Map<string, DeclaredPaths>() } = (await readEntries(path)) ?? {};
      return [...entries.values()].flatMap(({ roots }) => roots.map(({ from }) => from));
    },
    peek: async (command) => {
      const file = await readEntries(path);
      return file === undefined ? unreadable : ok(file.entries.get(declarationDigest(command)));
    },
  };
}

/**
 * A digest of everything in an entry that decides which paths it declares. Assay's own working folder counts only if
 * there are relative paths.
 */
function declarationDigest({ command, args, cwd, isCwdGiven = false, roots = [], env }: Command): string {
  const named = [...args.filter((arg) => !arg.startsWith('-')), ...(command.includes('/') ? [command] : [])];
  const folder = isCwdGiven || !named.every((path) => isAbsolute(path)) ? cwd : '';
  return sha256(JSON.stringify([command, args, folder, isCwdGiven, roots, env['PATH'] ?? '']));
}

interface EntriesFile {
  /** The file that was read. Undefined if it does not exist. */
  readonly former: WholeFile | undefined;
  /** By digest, in the order in which they were stored. */
  readonly entries: Map<string, DeclaredPaths>;
}

const VERSION = 1;

/** Undefined if the file cannot be read or has another form: then it is unknown what servers may change. */
async function readEntries(path: string): Promise<EntriesFile | undefined> {
  const former = await readWhole(path);
  if (!former.ok) return undefined;
  if (former.value === undefined) return { former: undefined, entries: new Map() };
  try {
    const read: unknown = JSON.parse(former.value.text);
    if (!isJsonObject(read) || read['version'] !== VERSION || !isJsonObject(read['entries']))
      return undefined;
    const entries = Object.entries(read['entries']).map(
      ([digest, entry]) => [digest, pathsIn(entry)] as const,
    );
    return { former: former.value, entries: new Map(entries) };
  } catch {
    return undefined;
  }
}

function pathsIn(entry: unknown): DeclaredPaths {
  if (!isJsonObject(entry)) throw new TypeError('not an entry');
  return { roots: shownIn(entry, 'roots'), readable: shownIn(entry, 'readable') };
}

function shownIn(entry: JsonObject, key: keyof DeclaredPaths): readonly Shown[] {
  const list: unknown = entry[key];
  if (!Array.isArray(list)) throw new TypeError('not a list of paths');
  return list.map((one: unknown): Shown => {
    const { path, from } = isJsonObject(one) ? one : {};
    if (typeof path !== 'string' || typeof from !== 'string') throw new TypeError('not a path');
    return { path, from };
  });
}

function textOf(entries: EntriesFile['entries']): string {
  const kept = [...entries].slice(-MAX_ENTRIES);
  return `${JSON.stringify({ version: VERSION, entries: Object.fromEntries(kept) })}\n`;
}
