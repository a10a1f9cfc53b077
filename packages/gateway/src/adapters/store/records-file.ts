import { join } from 'node:path';
import { computeShortHash } from '@assay-mcp/kit/digest';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import { readRecord } from '../../core/read-record.ts';
import { EQUIPPED_ID, type RecordKind, RECORD_VERSIONS } from '../../core/record.ts';
import type { RecordCache, RecordChange } from '../../gateway/ports/records.ts';
import { ensureFolder, readTextNow, writeAtomically } from '@assay-mcp/kit/platform/files';
import { isStoreThere } from './is-store-there.ts';
import { SCHEMA_EDITION } from './tables.ts';

/** Increase when the format below changes; files of another format are ignored. */
const FORMAT = 1;
const STORE_DIGITS = 16;
/** Changes within this many ms are written together, except those of toolsets. */
const WRITE_AFTER_MS = 250;

/** Whether the records of a kind are in the file: those that the first lists depend on. */
const IS_IN_FILE: Readonly<Record<RecordKind, boolean>> = {
  tool: true,
  trust: true,
  gateway: true,
  rest_tool: true,
  function_module: true,
  instructions: true,
  toolset: true,
  equipped: true,
  // Read from the store when a server needs one: another copy is another place to protect.
  secret: false,
  setting: false,
  token_preferences: false,
  policy_rules: true,
  stops: true,
  notices: false,
};

/**
 * A copy of the operator's records in a file, so that a first list need not wait for the store. Any process on the
 * store writes it, and it is used until the store has been read. Before the first store exists, it is empty. Only
 * the equipped toolset is included, since all of them may be long.
 */
export function openRecordsFile(home: string, databaseUrl: string | undefined): RecordCache {
  const path = join(home, 'records.json');
  const store = computeShortHash(`${SCHEMA_EDITION} ${databaseUrl ?? ''}`, STORE_DIGITS);
  const isNew = !isStoreThere(home, databaseUrl);
  const file = readTextNow(path);
  let written = file.ok ? file.value : '';
  let wanted: (() => readonly RecordChange[]) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const text = wanted === undefined ? written : textOf(store, wanted());
    if (text === written) return;
    written = text;
    writing = writing.then(async () => {
      await ensureFolder(home);
      // If the home folder is not writable, the next start is slower; nothing else is lost.
      await writeAtomically(path, written, 0o600);
    });
  };
  return {
    recalled: isNew ? [] : read(written, store),
    remember: (changed, all) => {
      wanted = all;
      // The equipped toolset determines the first list of the next process.
      if (changed.some(({ kind }) => kind === 'equipped' || kind === 'toolset')) write();
      else timer ??= setTimeout(write, WRITE_AFTER_MS).unref();
    },
    flush: async () => {
      write();
      await writing;
    },
  };
}

function textOf(store: string, all: readonly RecordChange[]): string {
  const equipped = all.find(({ kind, id }) => kind === 'equipped' && id === EQUIPPED_ID);
  const name = equipped?.kind === 'equipped' ? equipped.body?.toolset : undefined;
  const records = all
    .filter(
      ({ kind, id, body }) => body !== undefined && IS_IN_FILE[kind] && (kind !== 'toolset' || id === name),
    )
    .map(({ kind, id, body }) => ({ kind, version: RECORD_VERSIONS[kind], id, body }));
  return `${JSON.stringify({ format: FORMAT, store, records })}\n`;
}

/** Undefined if the file cannot be used; a damaged file must not prevent a start. */
function read(text: string, store: string): readonly RecordChange[] | undefined {
  try {
    const kept: unknown = JSON.parse(text);
    const isOurs = isJsonObject(kept) && kept['format'] === FORMAT && kept['store'] === store;
    return isOurs && Array.isArray(kept['records']) ? kept['records'].flatMap(recordIn) : undefined;
  } catch {
    return undefined;
  }
}

function recordIn(value: unknown): readonly RecordChange[] {
  if (!isJsonObject(value)) return [];
  const { kind, id, version, body } = value;
  if (typeof kind !== 'string' || typeof id !== 'string' || typeof version !== 'number') return [];
  const record = readRecord({ kind, version, body });
  return record.ok ? [{ ...record.value, id }] : [];
}
