import type { Node } from 'jsonc-parser';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { getTreeMembers, type SyntaxFault, type TreeMember } from '../json-tree.ts';
import { CLIENTS, type Client } from './clients.ts';
import { FORMATS, findObjectAt, findValueAt } from './file-formats.ts';
import { readInputs, type Inputs } from './inputs.ts';
import { getPathModule, findProjectFile, listUserFiles, type Machine } from './locate-client.ts';
import { toSettingsRefusal, readSettings } from './settings-file.ts';

/** A location in a file that may contain servers. */
export interface Source extends Pick<Client, 'format' | 'keys' | 'references' | 'timeout' | 'offList'> {
  readonly file: string;
  /** Project folder under `projects`, as in Claude Code's `~/.claude.json`. Undefined for the top level. */
  readonly below: string | undefined;
  /** Base of relative paths. Undefined if the client does not define one. */
  readonly base: string | undefined;
  readonly project: string | undefined;
}

/** An entry in the client's own format. */
export interface SourceEntry {
  readonly source: Source;
  readonly member: TreeMember;
  readonly path: readonly string[];
  /** Text of the file, for positions. */
  readonly text: string;
  readonly inputs: Inputs;
  /** Whether the client lists it as disabled. */
  readonly isOff: boolean;
}

export interface ReadSources {
  /** The files that exist. */
  readonly files: readonly string[];
  readonly entries: readonly SourceEntry[];
  readonly elsewhere: readonly string[];
}

/** Where a client stores its servers, in order of precedence for duplicate names. */
export function listSources(
  client: Client,
  project: string | undefined,
  machine: Machine,
): readonly Source[] {
  const users = listUserFiles(client, machine).map(({ path }): Source => {
    return { ...client, file: path, below: undefined, base: undefined, project };
  });
  if (project === undefined) return users;
  const locals =
    client.hasProjects === true
      ? users.map((source): Source => ({ ...source, below: project, base: project }))
      : [];
  const file = findProjectFile(client, project, machine.platform)?.path;
  const shared: readonly Source[] =
    file === undefined ? [] : [{ ...client, file, below: undefined, base: project, project }];
  return [...locals, ...shared, ...users];
}

/** A file in any known format. A file where clients store project servers belongs to that project. */
export function toFileSource(file: string, project: string | undefined, platform: string): Source {
  const paths = getPathModule(platform);
  const parts = file.split(paths.sep);
  const ends = (path: readonly string[] | undefined): boolean =>
    path?.slice(-2).every((part, index, tail) => part === parts.at(index - tail.length)) === true;
  // Any file in such a folder belongs to the project.
  const ofProject = CLIENTS.map(({ projectFile }) => projectFile).find((path) =>
    path?.length === 1 ? ends(path) : path?.[0] === parts.at(-2),
  );
  const client =
    CLIENTS.find(
      ({ projectFile, userFiles }) => ends(projectFile) || userFiles.some(({ path }) => ends(path)),
    ) ?? CLIENTS.find(({ format }) => file.endsWith(`.${format}`));
  const folder = paths.dirname(file);
  const own = ofProject && parts.slice(0, -ofProject.length).join(paths.sep);
  const base = project ?? own;
  const format = client?.format ?? 'json';
  const keys = CLIENTS.filter((one) => one.format === format).flatMap((one) => one.keys);
  return {
    ...client,
    format,
    keys: [...new Map(keys.map((key) => [key.join('.'), key])).values()],
    file,
    below: undefined,
    base: base ?? folder,
    project: base,
  };
}

/** Reads all sources. CONFIG_UNREADABLE or CONFIG_INVALID on failure; a missing file counts as empty. */
export async function readSources(
  sources: readonly Source[],
  platform: string,
): Promise<Result<ReadSources, Refusal>> {
  const files = new Set<string>();
  const entries: SourceEntry[] = [];
  const elsewhere = new Set<string>();
  const off = new Set<string>();
  for (const source of sources) {
    const isInProject =
      source.below === undefined && source.base !== undefined && source.base === source.project;
    const whole = await readSettings(source.file, isInProject ? source.base : undefined);
    if (!whole.ok) return whole;
    if (whole.value === undefined) continue;
    files.add(source.file);
    const { text } = whole.value;
    // Some clients leave an empty file behind.
    if (text.trim() === '') continue;
    const found = entriesIn(text, source, platform);
    if (!found.ok) return err(toSettingsRefusal(source.file, text, found.error));
    for (const name of found.value.off) off.add(name);
    for (const folder of found.value.elsewhere) elsewhere.add(folder);
    const isOfProject = source.base !== undefined;
    for (const entry of found.value.entries) {
      const { key } = entry.member;
      entries.push({ ...entry, isOff: found.value.excluded.includes(key) || (isOfProject && off.has(key)) });
    }
  }
  return ok({ files: [...files], entries, elsewhere: [...elsewhere] });
}

interface InFile {
  readonly entries: readonly Omit<SourceEntry, 'isOff'>[];
  readonly elsewhere: readonly string[];
  /** Switched off for a project. */
  readonly off: readonly string[];
  /** Switched off in this file. */
  readonly excluded: readonly string[];
}

function entriesIn(text: string, source: Source, platform: string): Result<InFile, SyntaxFault> {
  const tree = FORMATS[source.format].parse(text);
  if (!tree.ok) return tree;
  const root = tree.value;
  if (root.type !== 'object')
    return err({ offset: root.offset, reason: 'the file must contain one JSON object' });
  const inputs = readInputs(root);
  const projects = membersIn(findValueAt(root, 'projects'));
  const isAsked = ({ key }: TreeMember): boolean =>
    source.project !== undefined && sameFolder(key, source.project, platform);
  const own = projects.find(isAsked);
  const top =
    source.below === undefined
      ? { node: root, path: [] }
      : own && { node: own.value, path: ['projects', own.key] };
  const entries: Omit<SourceEntry, 'isOff'>[] = [];
  for (const keys of source.keys) {
    const parent = top && findObjectAt(top.node, keys.slice(0, -1));
    const node = parent && findValueAt(parent, keys.at(-1) ?? '');
    if (top === undefined || node === undefined) continue;
    if (node.type !== 'object') return err({ offset: node.offset, reason: 'this is not an object' });
    for (const one of getTreeMembers(node))
      if (!isParent([...keys, one.key], one.value, source))
        entries.push({ source, member: one, path: [...top.path, ...keys, one.key], text, inputs });
  }
  const elsewhere = projects
    .filter((one) => !isAsked(one) && membersIn(findValueAt(one.value, 'mcpServers')).length > 0)
    .map(({ key }) => key);
  const off = source.below === undefined ? [] : switchedOff(own?.value);
  const excluded = namesAt(findObjectAt(root, source.offList?.slice(0, -1) ?? []), source.offList?.at(-1));
  return ok({ entries, elsewhere, off, excluded });
}

/** Whether a member is not a server but holds servers, as `servers` in `mcp`. */
function isParent(path: readonly string[], value: Node, { keys }: Source): boolean {
  const isListed = keys.some((one) => one.join('\0') === path.join('\0'));
  return (
    isListed && findValueAt(value, 'type')?.type !== 'string' && findValueAt(value, 'command') === undefined
  );
}

/** Claude Code stores disabled servers per project, for both the project's own and the shared ones. */
function switchedOff(project: Node | undefined): readonly string[] {
  return ['disabledMcpServers', 'disabledMcpjsonServers'].flatMap((key) => namesAt(project, key));
}

function namesAt(object: Node | undefined, key: string | undefined): readonly string[] {
  const list = object && key !== undefined ? findValueAt(object, key) : undefined;
  return (list?.children ?? []).map((node) => String(node.value));
}

function membersIn(node: Node | undefined): readonly TreeMember[] {
  return node?.type === 'object' ? getTreeMembers(node) : [];
}

/** Windows allows several spellings of a path. */
function sameFolder(one: string, other: string, platform: string): boolean {
  const [a = '', b = ''] = [one, other].map((path) => {
    const plain = path.replaceAll('\\', '/').replace(/\/+$/, '');
    return platform === 'win32' ? plain.toLowerCase() : plain;
  });
  return a === b;
}
