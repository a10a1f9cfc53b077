import type { Node } from 'jsonc-parser';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { membersOf, parseJsonTree, type SyntaxFault, type TreeMember } from '../json-tree.ts';
import type { Client } from './clients.ts';
import { readInputs, type Inputs } from './inputs.ts';
import { pathsOf, projectFileOf, userFilesOf, type Machine } from './locate-client.ts';
import { invalidSettings, readSettings } from './settings-file.ts';

/** A location in a file that may contain servers. */
export interface Source {
  readonly file: string;
  readonly keys: readonly string[];
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
export function sourcesOf(client: Client, project: string | undefined, machine: Machine): readonly Source[] {
  const users = userFilesOf(client, machine).map(({ path }): Source => {
    return { file: path, keys: [client.key], below: undefined, base: undefined, project };
  });
  if (project === undefined) return users;
  const locals = client.hasProjects
    ? users.map((source): Source => ({ ...source, below: project, base: project }))
    : [];
  const file = projectFileOf(client, project, machine.platform)?.path;
  const shared =
    file === undefined ? [] : [{ file, keys: [client.key], below: undefined, base: project, project }];
  return [...locals, ...shared, ...users];
}

const FOLDERS_OF_CLIENTS: ReadonlySet<string> = new Set(['.vscode', '.cursor', '.devin']);

/** A file in any known format. A file where clients store project servers belongs to that project. */
export function sourceOfFile(file: string, project: string | undefined, platform: string): Source {
  const paths = pathsOf(platform);
  const folder = paths.dirname(file);
  const isInClientFolder = FOLDERS_OF_CLIENTS.has(paths.basename(folder));
  const own = isInClientFolder
    ? paths.dirname(folder)
    : paths.basename(file) === '.mcp.json'
      ? folder
      : undefined;
  const base = project ?? own;
  return { file, keys: ['mcpServers', 'servers'], below: undefined, base: base ?? folder, project: base };
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
    const whole = await readSettings(source.file);
    if (!whole.ok) return whole;
    if (whole.value === undefined) continue;
    files.add(source.file);
    const { text } = whole.value;
    // Some clients leave an empty file behind.
    if (text.trim() === '') continue;
    const found = entriesIn(text, source, platform);
    if (!found.ok) return err(invalidSettings(source.file, text, found.error));
    for (const name of found.value.off) off.add(name);
    for (const folder of found.value.elsewhere) elsewhere.add(folder);
    const isOfProject = source.base !== undefined;
    for (const entry of found.value.entries)
      entries.push({ ...entry, isOff: isOfProject && off.has(entry.member.key) });
  }
  return ok({ files: [...files], entries, elsewhere: [...elsewhere] });
}

interface InFile {
  readonly entries: readonly Omit<SourceEntry, 'isOff'>[];
  readonly elsewhere: readonly string[];
  readonly off: readonly string[];
}

function entriesIn(text: string, source: Source, platform: string): Result<InFile, SyntaxFault> {
  const tree = parseJsonTree(text);
  if (!tree.ok) return tree;
  const root = tree.value;
  if (root.type !== 'object')
    return err({ offset: root.offset, reason: 'the file must hold one JSON object' });
  const inputs = readInputs(root);
  const projects = membersIn(member(root, 'projects'));
  const isAsked = ({ key }: TreeMember): boolean =>
    source.project !== undefined && sameFolder(key, source.project, platform);
  const own = projects.find(isAsked);
  const top =
    source.below === undefined
      ? { node: root, path: [] }
      : own && { node: own.value, path: ['projects', own.key] };
  const entries: Omit<SourceEntry, 'isOff'>[] = [];
  for (const key of source.keys) {
    const node = top && member(top.node, key);
    if (top === undefined || node === undefined) continue;
    if (node.type !== 'object') return err({ offset: node.offset, reason: 'this is not an object' });
    for (const one of membersOf(node))
      entries.push({ source, member: one, path: [...top.path, key, one.key], text, inputs });
  }
  const elsewhere = projects
    .filter((one) => !isAsked(one) && membersIn(member(one.value, 'mcpServers')).length > 0)
    .map(({ key }) => key);
  const off = source.below === undefined ? [] : switchedOff(own?.value);
  return ok({ entries, elsewhere, off });
}

/** Claude Code stores disabled servers per project, for both the project's own and the shared ones. */
function switchedOff(project: Node | undefined): readonly string[] {
  return ['disabledMcpServers', 'disabledMcpjsonServers'].flatMap((key) => {
    const list = project && member(project, key);
    return (list?.children ?? []).map((node) => String(node.value));
  });
}

function member(node: Node, key: string): Node | undefined {
  return node.type === 'object' ? membersOf(node).find((one) => one.key === key)?.value : undefined;
}

function membersIn(node: Node | undefined): readonly TreeMember[] {
  return node?.type === 'object' ? membersOf(node) : [];
}

/** Windows allows several spellings of a path. */
function sameFolder(one: string, other: string, platform: string): boolean {
  const [a = '', b = ''] = [one, other].map((path) => {
    const plain = path.replaceAll('\\', '/').replace(/\/+$/, '');
    return platform === 'win32' ? plain.toLowerCase() : plain;
  });
  return a === b;
}
