import { dirname, resolve } from 'node:path';
import type { Refusal } from '../../../core/refusal.ts';
import type { ConnectReport, ConnectRequest } from '../../../core/client-configs.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { ensureFolder, isFolder, isThere } from '@assay-mcp/kit/platform/files';
import { expandHome } from '@assay-mcp/kit/platform/locate-home';
import type { Edited } from '../json-edit.ts';
import { CLIENTS, type Client } from './clients.ts';
import { hashSettingsFile, readRecord, restoreRecord, saveRecord } from './connect-record.ts';
import { FORMATS } from './file-formats.ts';
import { computeUndoState, isOwn, readClientServers } from './former-state.ts';
import { findProjectFile, listUserFiles, type ClientFile, type Machine } from './locate-client.ts';
import { isAssay, isShortLived, buildOwnEntry, type OwnCommand } from './own-entry.ts';
import {
  toSettingsRefusal,
  readSettings,
  retryOnChange,
  toUnwritableRefusal,
  getWholeText,
  writeSettings,
  type ConcurrentChange,
  type SettingsFile,
} from './settings-file.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { isInside } from '@assay-mcp/kit/platform/is-inside';

/** Process state needed to connect a client. */
export interface ConnectEnvironment extends Machine {
  readonly cwd: string;
  /** Assay's home folder. */
  readonly assayHome: string;
  readonly ownCommand: OwnCommand;
  /** Command options that select the same home and config. */
  readonly options: readonly string[];
  readonly tempFolder: string;
  readonly nowMs: number;
}

/** A client and the file to write. */
export interface Target {
  readonly client: Client;
  readonly file: ClientFile;
  readonly isOfProject: boolean;
}

/**
 * Adds an entry for Assay to a client's config file, leaves the rest untouched, and records how to undo that.
 * CLIENT_UNKNOWN, CLIENT_ABSENT, CLIENT_NEEDS_COMMAND, ENTRY_EXISTS, ARGUMENTS_INVALID, CONFIG_UNREADABLE,
 * CONFIG_INVALID or FILE_UNWRITABLE on failure; the client's file is then unchanged.
 */
export async function connectClient(
  request: ConnectRequest,
  environment: ConnectEnvironment,
): Promise<Result<ConnectReport, Refusal>> {
  return retryOnChange(() => connectOnce(request, environment));
}

async function connectOnce(
  request: ConnectRequest,
  environment: ConnectEnvironment,
): Promise<Result<ConnectReport, Refusal | ConcurrentChange>> {
  const opened = await open(request, environment);
  if (!opened.ok) return opened;
  const { target, settings } = opened.value;
  const { client, file } = target;
  const { name } = request;
  const entry = buildOwnEntry({ ...environment, shape: file.shape, url: request.url });
  const { path: parent, entries } = readClientServers(settings.text, client);
  const former = entries.find(([key]) => key === name)?.[1];
  const report = reportOf(target, entries, { request, environment });
  if (JSON.stringify(former) === JSON.stringify(entry)) return ok({ ...report, change: 'same' });
  const key = { assayHome: environment.assayHome, client: client.id, path: file.path };
  const record = await readRecord(key);
  const isOurs = former === undefined || isOwn(former, record?.entries.get(name), environment.ownCommand);
  if (!isOurs && !request.force) return err({ code: 'ENTRY_EXISTS', name, path: file.path });
  const edited = FORMATS[client.format].withMember(settings.text, [...parent, name], entry);
  if (!edited.ok) return err(toSettingsRefusal(file.path, settings.text, edited.error));
  const done = ok({ ...report, preview: previewOf(edited.value, settings.isNew, name) });
  if (request.dryRun) return done;
  const kept = computeUndoState(record, settings, { client, ownCommand: environment.ownCommand });
  const saved = await saveRecord(
    {
      client: client.id,
      path: file.path,
      entries: new Map([...kept.entries, [name, entry]]),
      moved: kept.moved,
      former: kept.former,
      written: hashSettingsFile({ ...settings, text: edited.value.text }),
      savedMs: environment.nowMs,
    },
    environment.assayHome,
  );
  const put = saved.ok ? await write(settings, edited.value.text) : saved;
  if (put.ok) return done;
  if (put.error.code === 'DISTURBED') await restoreRecord(key, record);
  return put;
}

/** The candidate files for a request, starting with the one that current versions of the client read. */
export function listTargets(
  { client: id, project }: { readonly client: string; readonly project: string | undefined },
  environment: ConnectEnvironment,
): Result<readonly Target[], Refusal> {
  const client = CLIENTS.find((one) => one.id === id);
  if (client === undefined)
    return err({ code: 'CLIENT_UNKNOWN', name: id, known: CLIENTS.map((one) => one.id) });
  if (project === undefined)
    return ok(listUserFiles(client, environment).map((file) => ({ client, file, isOfProject: false })));
  const folder = resolve(environment.cwd, expandHome(project, environment.home));
  const file = findProjectFile(client, folder, environment.platform);
  return file === undefined
    ? err({ code: 'ARGUMENTS_INVALID', reason: `${client.label} keeps no servers for single projects` })
    : ok([{ client, file, isOfProject: true }]);
}

interface Opened {
  readonly target: Target;
  readonly settings: SettingsFile;
}

async function open(
  request: ConnectRequest,
  environment: ConnectEnvironment,
): Promise<Result<Opened, Refusal>> {
  const targets = listTargets(request, environment);
  if (!targets.ok) return targets;
  const target = await pick(targets.value);
  const { client, file } = target;
  const fault = faultOf(request);
  if (fault !== undefined) return err({ code: 'ARGUMENTS_INVALID', reason: fault });
  if (request.url !== undefined && file.shape.http === undefined)
    return err({ code: 'CLIENT_NEEDS_COMMAND', client: client.label });
  const present = await readSettings(file.path, target.isOfProject ? file.installedFolder : undefined);
  if (!present.ok) return present;
  if (present.value !== undefined) return ok({ target, settings: present.value });
  const isThere = await isFolder(file.installedFolder);
  const isAllowed = isThere || (request.force && !target.isOfProject);
  return isAllowed ? ok({ target, settings: emptyFile(target) }) : err(absent(target));
}

/** The first one whose folder exists; of several in that folder, one that exists. */
async function pick(targets: readonly Target[]): Promise<Target> {
  for (const target of targets) {
    const { installedFolder } = target.file;
    if (!(await isFolder(installedFolder))) continue;
    const inSame = targets.filter(({ file }) => file.installedFolder === installedFolder);
    for (const one of inSame) if (isThere(one.file.path)) return one;
    return target;
  }
  const last = targets.at(-1);
  if (last === undefined) throw new Error('a client without a place for its config');
  return last;
}

const NAME = /^[\w.-]{1,64}$/;

function faultOf({ name, url: text }: ConnectRequest): string | undefined {
  if (!NAME.test(name)) return 'a name has 1 to 64 letters, digits, dots, hyphens and underscores';
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  const isFit = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return isFit
    ? undefined
    : '--http needs an address that starts with http:// or https://, without credentials';
}

function absent({ client, file, isOfProject }: Target): Refusal {
  return isOfProject
    ? {
        code: 'ARGUMENTS_INVALID',
        reason: `the folder ${JSON.stringify(file.installedFolder)} does not exist`,
      }
    : { code: 'CLIENT_ABSENT', client: client.label, folder: file.installedFolder };
}

/** A user's own file may contain secrets; a project's file is shared. */
function emptyFile({ file, isOfProject }: Target): SettingsFile {
  return { path: file.path, text: '', mark: '', mode: isOfProject ? 0o644 : 0o600, isNew: true };
}

interface ReportInput {
  readonly request: ConnectRequest;
  readonly environment: ConnectEnvironment;
}

function reportOf(
  target: Target,
  entries: readonly (readonly [string, JsonObject])[],
  { request, environment }: ReportInput,
): ConnectReport {
  const others = entries.filter(([name]) => name !== request.name);
  const isItself = ([, value]: readonly [string, JsonObject]): boolean =>
    isAssay(value, environment.ownCommand);
  const twins = others
    .filter(isItself)
    .map(
      ([name]) =>
        `the file has Assay already, as ${JSON.stringify(name)}: the client will see each tool twice`,
    );
  return {
    client: target.client.label,
    path: target.file.path,
    change: 'connected',
    isDryRun: request.dryRun,
    names: [request.name],
    restored: [],
    preview: [],
    warnings: [...twins, ...(request.url === undefined ? warningsOf(environment) : [])],
    others: others.filter((one) => !isItself(one)).map(([name]) => name),
    next: nextOf(target, request),
  };
}

/** Shows only Assay's own lines: the ones around them may contain secrets. */
function previewOf({ line, lines, isReplaced }: Edited, isNew: boolean, name: string): readonly string[] {
  const width = String(line + lines.length).length;
  const added = lines.map((text, index) => `+ ${String(line + index).padStart(width)}  ${text}`);
  if (isReplaced) return [`- the entry ${JSON.stringify(name)} that is there now`, ...added];
  return isNew ? ['(a new file)', ...added] : added;
}

function warningsOf({ ownCommand, tempFolder }: ConnectEnvironment): readonly string[] {
  const main = ownCommand.at(-1) ?? '';
  if (isShortLived(ownCommand))
    return [
      'Assay runs from the cache of npx, so the entry starts it with npx as well. To start faster, install it: npm install --global assay-mcp',
    ];
  return isInside(main, tempFolder)
    ? [
        `Assay runs from a temporary folder, ${main}, and the client cannot start it once that is deleted. Install Assay elsewhere, then connect again.`,
      ]
    : [];
}

function nextOf({ client }: Target, { url }: ConnectRequest): string {
  return url === undefined ? client.next : `${client.next} \`assay serve\` must run at ${url}.`;
}

async function write(
  settings: SettingsFile,
  text: string,
): Promise<Result<undefined, Refusal | ConcurrentChange>> {
  const folder = await ensureFolder(dirname(settings.path));
  if (!folder.ok) return err(toUnwritableRefusal(dirname(settings.path), folder.error.reason));
  return writeSettings(settings, getWholeText({ ...settings, text }));
}
