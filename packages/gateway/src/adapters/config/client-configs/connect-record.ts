import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { computeShortHash } from '@assay-mcp/kit/digest';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { ensureFolder, readText, removeFile, writeAtomically } from '@assay-mcp/kit/platform/files';
import { toUnwritableRefusal, getWholeText, type SettingsFile } from './settings-file.ts';
import { type JsonObject, isJsonObject } from '@assay-mcp/kit/json-object';

/** What Assay changed in a client's file, so that it can be undone. */
export interface ConnectRecord {
  readonly client: string;
  readonly path: string;
  /** The entries written, by name. */
  readonly entries: ReadonlyMap<string, JsonObject>;
  /** The client's own entries that were taken out, in order. */
  readonly moved: readonly MovedEntry[];
  /** Content of the file before the first change. Undefined if the file did not exist. */
  readonly former: string | undefined;
  /** Hash of the file as Assay wrote it. */
  readonly written: string;
  readonly savedMs: number;
}

/** A client's entry for a server that Assay has too, and its path in the file. */
export interface MovedEntry {
  readonly path: readonly string[];
  readonly value: JsonObject;
}

/** Identifies a record by file, and locates Assay's home. */
export interface RecordKey {
  readonly assayHome: string;
  readonly client: string;
  readonly path: string;
}

/** Hash of all bytes of a file. */
export function hashSettingsFile(file: Pick<SettingsFile, 'mark' | 'text'>): string {
  return computeShortHash(getWholeText(file), 64);
}

/** Undefined if nothing was recorded or the record is damaged. */
export async function readRecord(key: RecordKey): Promise<ConnectRecord | undefined> {
  const text = await readText(fileOf(key));
  const record = text.ok ? parsed(text.value) : undefined;
  return record?.path === key.path ? record : undefined;
}

/** All records of a home that are whole, by path. */
export async function listRecords(assayHome: string): Promise<readonly ConnectRecord[]> {
  const names = await readdir(folderOf(assayHome)).catch(() => []);
  const records: ConnectRecord[] = [];
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    const text = await readText(join(folderOf(assayHome), name));
    const record = text.ok ? parsed(text.value) : undefined;
    if (record !== undefined && basename(fileOf({ ...record, assayHome })) === name) records.push(record);
  }
  return records.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** FILE_UNWRITABLE on failure. Private to the user, since a client's file may contain secrets. */
export async function saveRecord(
  record: ConnectRecord,
  assayHome: string,
): Promise<Result<undefined, Refusal>> {
  const { former, savedMs, written, entries, moved, client, path } = record;
  const bytes = former === undefined ? ABSENT : Buffer.from(former, 'utf8').toString('base64');
  const savedAt = new Date(savedMs).toISOString();
  const stored = {
    client,
    path,
    entries: Object.fromEntries(entries),
    moved,
    savedAt,
    written,
    former: bytes,
  };
  const file = fileOf({ ...record, assayHome });
  const folder = await ensureFolder(folderOf(assayHome));
  const saved = folder.ok
    ? await writeAtomically(file, `${JSON.stringify(stored, undefined, 1)}\n`, 0o600)
    : folder;
  return saved.ok ? ok(undefined) : err(toUnwritableRefusal(file, saved.error.reason));
}

/** Restores the previous record, because the change that the new one describes was not made. */
export async function restoreRecord(key: RecordKey, former: ConnectRecord | undefined): Promise<void> {
  await (former === undefined ? forgetRecord(key) : saveRecord(former, key.assayHome));
}

/** Failure is harmless: a record is compared with the file before it is used. */
export async function forgetRecord(key: RecordKey): Promise<void> {
  await removeFile(fileOf(key));
}

/** Not valid base64, whose length is a multiple of four. */
const ABSENT = 'absent';

function folderOf(assayHome: string): string {
  return join(assayHome, 'backups');
}

function fileOf({ assayHome, client, path }: RecordKey): string {
  return join(folderOf(assayHome), `${client}-${computeShortHash(path, 16)}.json`);
}

function parsed(text: string): ConnectRecord | undefined {
  try {
    const stored = JSON.parse(text) as JsonObject;
    const { client, path, entries, moved = [], former, written, savedAt } = stored;
    const isWhole =
      typeof client === 'string' &&
      isJsonObject(entries) &&
      Object.values(entries).every(isJsonObject) &&
      Array.isArray(moved) &&
      moved.every(isMoved) &&
      typeof former === 'string' &&
      typeof written === 'string' &&
      typeof path === 'string';
    if (!isWhole) return undefined;
    return {
      client,
      path,
      entries: new Map(Object.entries(entries as Readonly<Record<string, JsonObject>>)),
      moved,
      former: former === ABSENT ? undefined : Buffer.from(former, 'base64').toString('utf8'),
      written,
      savedMs: Date.parse(String(savedAt)),
    };
  } catch {
    return undefined;
  }
}

function isMoved(value: unknown): value is MovedEntry {
  if (!isJsonObject(value)) return false;
  const { path, value: entry } = value;
  return Array.isArray(path) && path.every((key) => typeof key === 'string') && isJsonObject(entry);
}
