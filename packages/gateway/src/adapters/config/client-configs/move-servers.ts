import type { MoveReport, MoveRequest } from '../../../core/client-configs.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import { CLIENTS, type Client } from './clients.ts';
import {
  hashSettingsFile,
  readRecord,
  restoreRecord,
  saveRecord,
  type MovedEntry,
} from './connect-record.ts';
import { FORMATS } from './file-formats.ts';
import { computeUndoState } from './former-state.ts';
import { findKnownEntries, type ImportEnvironment } from './import-servers.ts';
import {
  readSettings,
  retryOnChange,
  getWholeText,
  writeSettings,
  type ConcurrentChange,
} from './settings-file.ts';
import { toJsonValue } from './translate-entry.ts';
import type { SourceEntry } from './sources.ts';

/**
 * Removes from a client's files the entries whose server is in Assay's config, and records them so that an undo can
 * restore the files. CLIENT_UNKNOWN, CONFIG_UNREADABLE, CONFIG_INVALID or FILE_UNWRITABLE on failure.
 */
export async function moveServers(
  { client: id, project, except }: MoveRequest,
  environment: ImportEnvironment,
): Promise<Result<MoveReport, Refusal>> {
  const client = CLIENTS.find((one) => one.id === id);
  if (client === undefined)
    return err({ code: 'CLIENT_UNKNOWN', name: id, known: CLIENTS.map((one) => one.id) });
  const files: { path: string; names: readonly string[] }[] = [];
  const moved = await retryOnChange(async () => {
    const known = await findKnownEntries({ client: id, project }, environment);
    if (!known.ok) return known;
    const leaving = known.value
      .filter(({ importedAs }) => !except.includes(importedAs))
      .map(({ entry }) => entry);
    for (const path of new Set(leaving.map(({ source }) => source.file))) {
      const entries = leaving.filter(({ source }) => source.file === path);
      const names = await takeOut(path, entries, { client, environment });
      if (!names.ok) return names;
      files.push({ path, names: names.value });
    }
    return ok(undefined);
  });
  return moved.ok ? ok({ client: client.label, files }) : moved;
}

interface Context {
  readonly client: Client;
  readonly environment: ImportEnvironment;
}

/** Takes entries out of one file, unless it changed since they were read. Returns their names. */
async function takeOut(
  path: string,
  entries: readonly SourceEntry[],
  { client, environment }: Context,
): Promise<Result<readonly string[], Refusal | ConcurrentChange>> {
  const read = await readSettings(path);
  if (!read.ok) return read;
  const settings = read.value;
  const isUnchanged = settings !== undefined && entries.every((entry) => entry.text === settings.text);
  if (!isUnchanged) return err({ code: 'DISTURBED', path });
  const { withoutMember } = FORMATS[client.format];
  const moved: MovedEntry[] = [];
  let { text } = settings;
  for (const { path: keys, member } of entries) {
    const [value, without] = [toJsonValue(member.value), withoutMember(text, keys)];
    if (without === undefined || !isJsonObject(value)) continue;
    text = without;
    moved.push({ path: keys, value });
  }
  const key = { assayHome: environment.assayHome, client: client.id, path };
  const record = await readRecord(key);
  const kept = computeUndoState(record, settings, { client, ownCommand: environment.ownCommand });
  const saved = await saveRecord(
    {
      ...{ client: client.id, path, former: kept.former, savedMs: environment.nowMs },
      // Assay's own entries stay in the file.
      entries: record?.entries ?? new Map(),
      moved: [...kept.moved, ...moved],
      written: hashSettingsFile({ ...settings, text }),
    },
    environment.assayHome,
  );
  const put = saved.ok ? await writeSettings(settings, getWholeText({ ...settings, text })) : saved;
  if (put.ok) return ok(moved.map((entry) => entry.path.at(-1) ?? ''));
  if (put.error.code === 'DISTURBED') await restoreRecord(key, record);
  return put;
}
