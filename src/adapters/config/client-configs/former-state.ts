import { membersOf } from '../json-tree.ts';
import type { JsonObject } from '../../../core/json-object.ts';
import type { Client } from './clients.ts';
import { hashOf, type ConnectRecord } from './connect-record.ts';
import { FORMATS, objectAt, valueAt } from './file-formats.ts';
import { addressOf, isAssay, type OwnCommand } from './own-entry.ts';
import type { SettingsFile } from './settings-file.ts';
import { valueOf } from './translate-entry.ts';

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
export function serversIn(text: string, { format, keys: [usual = [], ...others] }: Client): Servers {
  const tree = text.trim() === '' ? undefined : FORMATS[format].parse(text);
  const root = tree?.ok === true ? tree.value : undefined;
  const path = others.findLast((one) => root !== undefined && objectAt(root, one) !== undefined) ?? usual;
  const servers = root && objectAt(root, path);
  const entries = (servers === undefined ? [] : membersOf(servers)).map(({ key: name, value }) => {
    const entry: JsonObject = value.type === 'object' ? (valueOf(value) as JsonObject) : {};
    return [name, entry] as const;
  });
  return { path, entries };
}

/** Whether Assay wrote an entry, even if it was extended since; another entry may have taken its name. */
export function isOwn(present: JsonObject, written: JsonObject | undefined, ownCommand: OwnCommand): boolean {
  const address = addressOf(written ?? {});
  return isAssay(present, ownCommand) || (address !== undefined && addressOf(present) === address);
}

/** Removes the entries that Assay wrote into a text. */
function withoutOwn(text: string, { entries }: ConnectRecord, { client, ownCommand }: FileContext): string {
  const servers = serversIn(text, client);
  const own = servers.entries.filter(
    ([name, entry]) => entries.has(name) && isOwn(entry, entries.get(name), ownCommand),
  );
  const { withoutMember } = FORMATS[client.format];
  return own.reduce((rest, [name]) => withoutMember(rest, [...servers.path, name]) ?? rest, text);
}

/** A client's text without the entries that Assay wrote, and with those that it took out. */
export function restoredText(text: string, record: ConnectRecord, context: FileContext): string {
  const { parse, withMember } = FORMATS[context.client.format];
  return record.moved.reduce(
    (rest, { path, value }) => {
      const tree = rest.trim() === '' ? undefined : parse(rest);
      const parent = tree?.ok === true ? objectAt(tree.value, path.slice(0, -1)) : undefined;
      const isTaken = parent !== undefined && valueAt(parent, path.at(-1) ?? '') !== undefined;
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
export function formerOf(
  record: ConnectRecord | undefined,
  present: SettingsFile,
  context: FileContext,
): Pick<ConnectRecord, 'former' | 'entries' | 'moved'> {
  if (present.isNew) return { former: undefined, entries: new Map(), moved: [] };
  if (record?.written === hashOf(present)) return record;
  if (record === undefined) return { former: present.mark + present.text, entries: new Map(), moved: [] };
  const text = restoredText(present.text, record, context);
  return { former: present.mark + text, entries: new Map(), moved: record.moved };
}
