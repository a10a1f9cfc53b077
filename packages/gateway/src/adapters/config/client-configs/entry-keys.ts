import type { Node } from 'jsonc-parser';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { getTreeMembers, toTree, type TreeMember } from '../json-tree.ts';
import type { Client } from './clients.ts';
import { MAX_TIMER_MS } from '@assay-mcp/kit/timer';

/** What differs between clients that use the same keys. */
export type Dialect = Pick<Client, 'references' | 'timeout'>;

/** A part of an entry that cannot be translated. */
export interface EntryFault {
  readonly node: Node;
  readonly reason: string;
}

interface RenamedKeys {
  /** With the keys of Assay's config; nodes keep their position in the client's file. */
  readonly members: readonly TreeMember[];
  /** Keys that Assay has no equivalent for. */
  readonly leftOut: readonly string[];
  readonly fault: EntryFault | undefined;
}

/** Renames the keys of a client's entry to those of Assay. */
export function renameKeys(entry: Node, dialect: Dialect): RenamedKeys {
  const given = getTreeMembers(entry);
  const own = new Set(given.map(({ key }) => key));
  const members = new Map<string, TreeMember>();
  const leftOut: string[] = [];
  let fault: EntryFault | undefined;
  for (const { key, keyNode, value } of given) {
    const translated = RULES.get(key)?.(value, dialect);
    if (translated === undefined) leftOut.push(key);
    else if (typeof translated === 'string') fault ??= { node: value, reason: translated };
    else
      for (const [name, node] of translated) {
        // Zed writes null for absent values.
        if (node.type === 'null') continue;
        const former = members.get(name);
        const isTaken = name !== key && own.has(name);
        if (node.type === 'object' && former?.value.type === 'object')
          members.set(name, { ...former, value: merged(former.value, node) });
        else if (former === undefined && (!isTaken || node.type === 'object'))
          members.set(name, { key: name, keyNode, value: node });
        else leftOut.push(key);
      }
  }
  return { members: [...members.values()], leftOut, fault };
}

function merged(one: Node, other: Node): Node {
  return { ...one, children: [...(one.children ?? []), ...(other.children ?? [])] };
}

/** Converts a value to Assay's keys. Returns undefined if Assay has no equivalent, or a string with the reason the entry cannot run. */
type Rule = (
  value: Node,
  dialect: Dialect,
) => readonly (readonly [name: string, value: Node])[] | string | undefined;

const named =
  (name: string): Rule =>
  (value) => [[name, value]];

/** A value derived from the client's, at the same position. */
function createMember(name: string, value: unknown, at: Node): readonly (readonly [string, Node])[] {
  return [[name, toTree(value, at.offset)]];
}

/** opencode writes the command with its arguments, older versions of Zed write it as an object. */
const command: Rule = (value) => {
  if (value.type === 'array') {
    const [first, ...rest] = value.children ?? [];
    return (
      first && [
        ['command', first],
        ['args', { ...value, children: rest }],
      ]
    );
  }
  if (value.type !== 'object') return [['command', value]];
  return getTreeMembers(value).map(
    ({ key, value: part }) => [key === 'path' ? 'command' : key, part] as const,
  );
};

const toolList =
  (list: 'allow' | 'deny'): Rule =>
  (value) =>
    createMember('tools', { [list]: textsIn(value) }, value);

const seconds = 1_000;

function timeLimit(value: Node, unit: number): ReturnType<Rule> {
  const ms: unknown = value.value;
  const limit = typeof ms === 'number' ? Math.round(ms * unit) : 0;
  return limit >= 1 && limit <= MAX_TIMER_MS ? createMember('timeoutMs', limit, value) : undefined;
}

/** Values that name variables, such as `{header: VARIABLE}`, as references to them. */
function variables(value: Node): JsonObject {
  const texts = getTreeMembers(value).filter((member) => member.value.type === 'string');
  return Object.fromEntries(texts.map((member) => [member.key, `\${${String(member.value.value)}}`]));
}

function textsIn(value: Node): readonly string[] {
  return (value.children ?? []).filter(({ type }) => type === 'string').map((node) => String(node.value));
}

/** The keys of all clients with config files known here. No two use one key for different things, except `timeout`. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...['args', 'env', 'cwd', 'url', 'headers', 'disabled', 'timeoutMs', 'prefix', 'envFile'].map(
    (key) => [key, named(key)] as const,
  ),
  ['command', command],
  // opencode
  ['environment', named('env')],
  ['type', (value) => (value.value === 'local' || value.value === 'remote' ? [] : [['type', value]])],
  // Devin, Windsurf, Gemini CLI
  ['transport', named('type')],
  ['serverUrl', named('url')],
  ['httpUrl', named('url')],
  // Zed
  ['source', (value) => (value.value === 'extension' ? 'an extension of that client starts it' : [])],
  // Codex
  ['http_headers', named('headers')],
  [
    'env_http_headers',
    (value) => (value.type === 'object' ? createMember('headers', variables(value), value) : undefined),
  ],
  [
    'bearer_token_env_var',
    (value) => createMember('headers', { Authorization: `Bearer \${${String(value.value)}}` }, value),
  ],
  [
    'env_vars',
    (value) =>
      createMember('env', Object.fromEntries(textsIn(value).map((name) => [name, `\${${name}}`])), value),
  ],
  ['tool_timeout_sec', (value) => timeLimit(value, seconds)],
  // Codex, opencode, Zed
  [
    'enabled',
    (value) =>
      value.value === false ? createMember('disabled', true, value) : value.value === true ? [] : undefined,
  ],
  // Cline, Gemini CLI
  ['timeout', (value, { timeout }) => timeout && timeLimit(value, timeout === 's' ? seconds : 1)],
  // Windsurf, Gemini CLI, Codex
  ['disabledTools', toolList('deny')],
  ['excludeTools', toolList('deny')],
  ['includeTools', toolList('allow')],
  ['disabled_tools', toolList('deny')],
  ['enabled_tools', toolList('allow')],
  // Assay itself
  ['keepAlive', named('keepAlive')],
  ['stopTimeoutMs', named('stopTimeoutMs')],
  ['tools', (value) => (isOurs(value) ? [['tools', value]] : undefined)],
]);

/** Other clients use this key for an array or for per-tool settings. */
function isOurs(tools: Node): boolean {
  const members = tools.type === 'object' ? getTreeMembers(tools) : [];
  return (
    members.length > 0 &&
    members.every(({ key, value }) => (key === 'allow' || key === 'deny') && value.type === 'array')
  );
}
