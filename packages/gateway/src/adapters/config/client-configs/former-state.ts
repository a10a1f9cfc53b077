import { getTreeMembers } from '../json-tree.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import type { Client } from './clients.ts';
import { hashSettingsFile, type ConnectRecord } from './connect-record.ts';
import { FORMATS, findObjectAt, findValueAt } from './file-formats.ts';
import { getEntryUrl, isAssay, type OwnCommand } from './own-entry.ts';
import type { SettingsFile } from './settings-file.ts';
import { toJsonValue } from './translate-entry.ts';

/** The client that a file belongs to, and the command that starts Assay. */
export interface FileContext {
  readonly client: Client;
  readonly ownCommand: OwnCommand;
}

export interface Servers {
  /** Where an entry is added. */
  readonly path: readonly string[];
  readonly entries: readonly (readonly [string, JsonObject])[];
}

/** The servers in a text. One that cannot be parsed counts as empty; it is rejected when it is edited. */
export function readClientServers(text: string, { format, keys: [usual = [], ...others] }: Client): Servers {
  const tree = text.trim() === '' ? undefined : FORMATS[format].parse(text);
  const root = tree?.ok === true ? tree.value : undefined;
  const path = others.findLast((one) => root !== undefined && findObjectAt(root, one) !== undefined) ?? usual;
  const servers = root && findObjectAt(root, path);
  const entries = (servers === undefined ? [] : getTreeMembers(servers)).map(({ key: name, value }) => {
    const entry: JsonObject = value.type === 'object' ? (toJsonValue(value) as JsonObject) : {};
    return [name, entry] as const;
  });
  return { path, entries };
}

/** Whether Assay wrote an entry, even if it was extended since; another entry may have taken its name. */
export function isOwn(present: JsonObject, written: JsonObject | undefined, ownCommand: OwnCommand): boolean {
  const address = getEntryUrl(written ?? {});
  return isAssay(present, ownCommand) || (address !== undefined && getEntryUrl(present) === address);
}

/** Removes the entries that Assay wrote into a text. */
function withoutOwn(text: string, { entries }: ConnectRecord, { client, ownCommand }: FileContext): string {
  const servers = readClientServers(text, client);
  const own = servers.entries.filter(
    ([name, entry]) => entries.has(name) && isOwn(entry, entries.get(name), ownCommand),
  );
  const { withoutMember } = FORMATS[client.format];
  return own.reduce((rest, [name]) => withoutMember(rest, [...servers.path, name]) ?? rest, text);
}

/** A client's text without the entries that Assay wrote, and with those that it took out. */
export function restoreClientText(text: string, record: ConnectRecord, context: FileContext): string {
  const { parse, withMember } = FORMATS[context.client.format];
  return record.moved.reduce(
    (rest, { path, value }) => {
      const tree = rest.trim() === '' ? undefined : parse(rest);
      const parent = tree?.ok === true ? findObjectAt(tree.value, path.slice(0, -1)) : undefined;
      const isTaken = parent !== undefined && findValueAt(parent, path.at(-1) ?? '') !== undefined;
      const edited = isTaken ? undefined : withMember(rest, path, value);
      return edited?.ok === true ? edited.value.text : rest;
    },
    withoutOwn(text, record, context),
  );
}

/**
 * What an undo restores: the file before Assay's first edit, or, if others edited it after that, its current content
 * without Assay's changes.
 */
export function computeUndoState(
  record: ConnectRecord | undefined,
  present: SettingsFile,
  context: FileContext,
): Pick<ConnectRecord, 'former' | 'entries' | 'moved'> {
  if (present.isNew) return { former: undefined, entries: new Map(), moved: [] };
  if (record?.written === hashSettingsFile(present)) return record;
  if (record === undefined) return { former: present.mark + present.text, entries: new Map(), moved: [] };
  const text = restoreClientText(present.text, record, context);
  return { former: present.mark + text, entries: new Map(), moved: record.moved };
}
