import { basename, dirname, join, resolve } from 'node:path';
import { MAX_NAME_LENGTH } from '../../../core/name-fault.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { maskArgs, maskUrl, listNamedSecrets } from '../../../core/secrets/masked-command.ts';
import type {
  ImportOutcome,
  FoundServer,
  ImportReport,
  ImportRequest,
} from '../../../core/client-configs.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { ensureFolder, removeFile, writeAtomically } from '@assay-mcp/kit/platform/files';
import { expandHome } from '@assay-mcp/kit/platform/locate-home';
import type { EntryContext } from '../entry-fields.ts';
import { setJsonMember } from '../json-edit.ts';
import { getTreeMembers, parseJsonTree } from '../json-tree.ts';
import { CLIENTS } from './clients.ts';
import { isSameServer, listDifferences, toTexts } from './compare-entries.ts';
import { checkEntry, type CheckedEntry, referToSecrets } from './check-entry.ts';
import { getPathModule, type Machine } from './locate-client.ts';
import { isAssay, type OwnCommand } from './own-entry.ts';
import {
  readSources,
  toFileSource,
  listSources,
  type ReadSources,
  type Source,
  type SourceEntry,
} from './sources.ts';
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
import { toJsonValue } from './translate-entry.ts';

/** Process state needed for an import. */
export interface ImportEnvironment extends Machine {
  readonly cwd: string;
  /** Assay's own config file, absolute. */
  readonly configPath: string;
  /** Assay's home folder, absolute; backups are in it. */
  readonly assayHome: string;
  readonly ownCommand: OwnCommand;
  readonly nowMs: number;
}

/**
 * Copies the servers of another client into Assay's config file. Existing ones are kept unless `overwrite` is set;
 * entries for Assay itself and entries that could not run are skipped. CLIENT_UNKNOWN, NOTHING_FOUND,
 * CONFIG_UNREADABLE, CONFIG_INVALID, ARGUMENTS_INVALID or FILE_UNWRITABLE on failure; nothing is written then.
 */
export async function importServers(
  request: ImportRequest,
  environment: ImportEnvironment,
): Promise<Result<ImportReport, Refusal>> {
  const sources = await sourcesFor(request, environment);
  if (!sources.ok) return sources;
  const read = await readSources(sources.value, environment.platform);
  if (!read.ok) return read;
  const { entries, elsewhere } = read.value;
  if (entries.length === 0) return err(nothingFound(sources.value, elsewhere));
  return retryOnChange(() => copyOnce(read.value, { request, environment }));
}

async function copyOnce(
  { files, entries, elsewhere }: ReadSources,
  { request, environment }: PlanInput,
): Promise<Result<ImportReport, Refusal | ConcurrentChange>> {
  const own = await readSettings(environment.configPath);
  if (!own.ok) return own;
  const plan = planFor(entries, own.value, { request, environment });
  if (!plan.ok) return plan;
  const { servers, text } = plan.value;
  const isDryRun = request.dryRun;
  const target = environment.configPath;
  const report = { sources: files, target, backup: undefined, isDryRun, servers, elsewhere };
  if (isDryRun || text === own.value?.text) return ok(report);
  const backup = await saveConfig(own.value, text, environment);
  return backup.ok ? ok({ ...report, backup: backup.value }) : backup;
}

interface KnownEntry {
  readonly entry: SourceEntry;
  /** The name of its server in Assay's config. */
  readonly importedAs: string;
}

/** The entries whose server is already in Assay's config. */
export async function findKnownEntries(
  { client, project }: { readonly client: string; readonly project: string | undefined },
  environment: ImportEnvironment,
): Promise<Result<readonly KnownEntry[], Refusal>> {
  const request = { from: client, project, overwrite: false, dryRun: true };
  const sources = await sourcesFor(request, environment);
  if (!sources.ok) return sources;
  const read = await readSources(sources.value, environment.platform);
  if (!read.ok) return read;
  const own = await readSettings(environment.configPath);
  if (!own.ok) return own;
  const plan = planFor(read.value.entries, own.value, { request, environment });
  if (!plan.ok) return plan;
  return ok(
    read.value.entries.flatMap((entry, index) => {
      const server = plan.value.servers[index];
      return server?.outcome === 'same' ? [{ entry, importedAs: server.importedAs }] : [];
    }),
  );
}

async function sourcesFor(
  { from, project: given }: ImportRequest,
  environment: ImportEnvironment,
): Promise<Result<readonly Source[], Refusal>> {
  const at = (path: string): string => resolve(environment.cwd, expandHome(path, environment.home));
  const project = given === undefined ? undefined : at(given);
  const client = CLIENTS.find(({ id }) => id === from);
  if (client !== undefined) {
    const isFit = project === undefined || client.projectFile !== undefined;
    return isFit
      ? ok(listSources(client, project, environment))
      : err({ code: 'ARGUMENTS_INVALID', reason: `${client.label} keeps no servers for single projects` });
  }
  const file = at(from);
  const there = await readSettings(file);
  if (!there.ok) return there;
  // A bare word may be an unknown or misspelled client.
  if (there.value === undefined && !/[\\/.]/.test(from))
    return err({ code: 'CLIENT_UNKNOWN', name: from, known: CLIENTS.map(({ id }) => id) });
  return ok([toFileSource(file, project, environment.platform)]);
}

function nothingFound(sources: readonly Source[], elsewhere: readonly string[]): Refusal {
  const files = [...new Set(sources.map(({ file }) => file))];
  return { code: 'NOTHING_FOUND', places: files, projects: elsewhere };
}

interface PlanInput {
  readonly request: ImportRequest;
  readonly environment: ImportEnvironment;
}

interface Plan {
  readonly servers: readonly FoundServer[];
  /** New text of the config file. */
  readonly text: string;
}

function planFor(
  entries: readonly SourceEntry[],
  own: SettingsFile | undefined,
  { request, environment }: PlanInput,
): Result<Plan, Refusal> {
  let text = own?.text ?? '';
  const present = readPresentServers(text, environment.configPath);
  if (!present.ok) return present;
  const { names, key } = present.value;
  const servers: FoundServer[] = [];
  const seen = new Set<string>();
  for (const entry of entries) {
    const judged = judge(entry, environment, request.asSecrets);
    const name = entry.member.key;
    const isShadowed = seen.has(name);
    const context = { names, isShadowed, request, environment };
    const verdict = verdictOn(name, judged, context);
    const { outcome, importedAs } = verdict;
    if (outcome !== 'skipped') seen.add(name);
    const there = names.get(importedAs);
    if (outcome === 'copied' || outcome === 'replaced') {
      const path = there?.path ?? [key, importedAs];
      const edited = setJsonMember(text, path, judged.value);
      if (!edited.ok) return err(toSettingsRefusal(environment.configPath, text, edited.error));
      text = edited.value.text;
      names.set(importedAs, { value: judged.value, path });
    }
    servers.push(foundServer(entry, judged, verdict));
  }
  return ok({ servers, text });
}

interface Present {
  /** By name, each with its path. */
  readonly names: Map<string, { readonly value: unknown; readonly path: readonly string[] }>;
  /** The key under which new entries are added. */
  readonly key: string;
}

/** The servers that a config file holds. A blank text holds none. */
export function readPresentServers(text: string, path: string): Result<Present, Refusal> {
  const names: Present['names'] = new Map();
  if (text.trim() === '') return ok({ names, key: 'mcpServers' });
  const tree = parseJsonTree(text);
  if (!tree.ok) return err(toSettingsRefusal(path, text, tree.error));
  const groups = getTreeMembers(tree.value).filter(({ key }) => key === 'mcpServers' || key === 'servers');
  for (const { key, value } of groups)
    for (const member of value.type === 'object' ? getTreeMembers(value) : [])
      if (!names.has(member.key))
        names.set(member.key, { value: toJsonValue(member.value), path: [key, member.key] });
  const isVsCodeWay = groups.length > 0 && groups.every(({ key }) => key === 'servers');
  return ok({ names, key: isVsCodeWay ? 'servers' : 'mcpServers' });
}

function judge(
  entry: SourceEntry,
  environment: ImportEnvironment,
  asSecrets: ImportRequest['asSecrets'] = new Set(),
): CheckedEntry {
  const { source, inputs } = entry;
  const { home } = environment;
  const paths = getPathModule(environment.platform);
  const checked = checkEntry(entry, { ...source, paths, home, inputs }, toContext(environment));
  const names = checked.variables.flatMap(({ name, canBeSecret }) =>
    canBeSecret && asSecrets.has(name) ? [name] : [],
  );
  if (checked.value === undefined || names.length === 0) return checked;
  const value = referToSecrets(checked.value, new Set(names));
  return { ...checked, value, variables: checked.variables.filter(({ name }) => !names.includes(name)) };
}

function toContext({ env, cwd, home, assayHome, configPath }: ImportEnvironment): EntryContext {
  return { env, cwd, home, assayHome, configDir: dirname(configPath) };
}

interface Verdict extends Pick<FoundServer, 'importedAs' | 'differs'> {
  readonly outcome: ImportOutcome;
  readonly reason: string | undefined;
}

interface VerdictContext extends PlanInput, Pick<Present, 'names'> {
  /** Whether an entry above has the same name: the client uses that one. */
  readonly isShadowed: boolean;
}

/** An entry never replaces another server of its name unasked: the two may belong to different accounts. */
function verdictOn(name: string, judged: CheckedEntry, context: VerdictContext): Verdict {
  const { names, isShadowed, request, environment } = context;
  const { value, fault } = judged;
  const own: Verdict = { outcome: 'copied', reason: undefined, importedAs: name, differs: [] };
  if (value !== undefined && isAssay(value, environment.ownCommand))
    return { ...own, outcome: 'skipped', reason: 'this is Assay itself' };
  if (value === undefined || fault !== undefined)
    return { ...own, outcome: 'skipped', reason: fault?.reason ?? 'this is not an object' };
  const present = names.get(name);
  if (present === undefined) return own;
  const sources = toContext(environment);
  const isSame = (as: string): boolean => isSameServer(value, names.get(as)?.value, sources);
  const suffixed = listNames(name, request.from, names);
  const same = [name, ...suffixed, ...listOtherAccounts(name, names)].find(isSame);
  const differs = same === name ? [] : listDifferences(value, present.value, sources);
  if (same !== undefined) return { ...own, outcome: 'same', importedAs: same, differs };
  if (isShadowed)
    return {
      ...{ ...own, outcome: 'kept', differs },
      reason: 'the client uses another entry of this name, which is imported instead',
    };
  const free = suffixed.at(-1) ?? name;
  const last = suffixed.at(-2) ?? name;
  if (request.overwrite) return { ...own, outcome: 'replaced', importedAs: last, differs };
  return { ...own, importedAs: free, differs };
}

/** The names `github-cursor`, `github-cursor-2` and so on that exist, and the first one that is free. */
function listNames(name: string, from: string, taken: Present['names']): readonly string[] {
  const suffix = CLIENTS.some(({ id }) => id === from) ? from : 'imported';
  const listed: string[] = [];
  for (let count = 1; ; count += 1) {
    const end = count === 1 ? `-${suffix}` : `-${suffix}-${count}`;
    const next = `${name.slice(0, MAX_NAME_LENGTH - end.length).trimEnd()}${end}`;
    listed.push(next);
    if (!taken.has(next)) return listed;
  }
}

/** Servers of this name that other clients brought, such as `github-vscode` for `github`. */
function listOtherAccounts(name: string, taken: Present['names']): readonly string[] {
  return CLIENTS.flatMap(({ id }) => listNames(name, id, taken).slice(0, -1));
}

function foundServer(entry: SourceEntry, judged: CheckedEntry, verdict: Verdict): FoundServer {
  const { outcome, reason, importedAs, differs } = verdict;
  const { value, leftOut, variables, passes, fault, line, column } = judged;
  const at = outcome === 'skipped' && fault !== undefined ? fault : { line, column };
  const isCopied = outcome === 'copied' || outcome === 'replaced';
  return {
    name: entry.member.key,
    importedAs,
    differs,
    ...shownOf(value),
    outcome,
    reason,
    isDisabled: value?.['disabled'] === true,
    file: entry.source.file,
    line: at.line,
    column: at.column,
    variables: outcome === 'skipped' ? [] : variables,
    passes: outcome === 'skipped' ? [] : passes,
    leftOut: isCopied ? leftOut : [],
  };
}

function shownOf(value: CheckedEntry['value']): Pick<FoundServer, 'kind' | 'what'> {
  const { type, command, args, url, env, headers } = value ?? {};
  if (typeof command === 'string') {
    const words = Array.isArray(args) ? args.filter((arg) => typeof arg === 'string') : [];
    const secrets = [env, headers].flatMap((named) => listNamedSecrets(toTexts(named)));
    return { kind: 'stdio', what: maskArgs([command, ...words], secrets).join(' ') };
  }
  if (typeof url === 'string') return { kind: type === 'sse' ? 'sse' : 'http', what: maskUrl(url) };
  return { kind: 'unknown', what: '' };
}

/** Returns the path of the backup. A new file is private to the user, since entries contain secrets. */
export async function saveConfig(
  own: SettingsFile | undefined,
  text: string,
  { configPath, assayHome, nowMs }: ImportEnvironment,
): Promise<Result<string | undefined, Refusal | ConcurrentChange>> {
  if (own === undefined) {
    const folder = await ensureFolder(dirname(configPath));
    if (!folder.ok) return err(toUnwritableRefusal(dirname(configPath), folder.error.reason));
  }
  const at = new Date(nowMs).toISOString().replaceAll(':', '-');
  const backup = own && join(assayHome, 'backups', `${basename(configPath)}-${at}`);
  if (own !== undefined && backup !== undefined) {
    const folder = await ensureFolder(dirname(backup));
    const kept = folder.ok ? await writeAtomically(backup, getWholeText(own), 0o600) : folder;
    if (!kept.ok) return err(toUnwritableRefusal(backup, kept.error.reason));
  }
  const file = own ?? { path: configPath, text: '', mark: '', mode: 0o600, isNew: true };
  const written = await writeSettings(file, getWholeText({ ...file, text }));
  if (written.ok) return ok(backup);
  if (backup !== undefined) await removeFile(backup);
  return written;
}
