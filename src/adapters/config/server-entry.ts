import { getNodeValue, type Node } from 'jsonc-parser';
import type { ToolFilter } from '../../core/tool-filter.ts';
import {
  DEFAULT_TIMEOUT_MS,
  CUSTOM_SERVER,
  type ServerSpec,
  type Transport,
} from '../../core/server-spec.ts';
import { nameFault } from '../../core/name-fault.ts';
import { isTagList, MAX_TAGS } from '../../core/tags.ts';
import { sourceKind } from '../../core/sources/source-kinds.ts';
import { nearest } from '../../core/nearest.ts';
import { type ProblemCollector, quoted } from './problem-collector.ts';
import { optionAt, positionAt, type Entry, type EntryContext, type Option } from './entry-fields.ts';
import { CODEBASE_KEYS, readCodebase } from './codebase-entry.ts';
import { HTTP_KEYS, readHttp, URL_KEYS } from './http-entry.ts';
import { membersOf, type TreeMember } from './json-tree.ts';
import { OPENAPI_KEYS, readOpenapi } from './openapi-entry.ts';
import { isPatternList, MAX_PATTERNS, patternLists } from './pattern-lists.ts';
import { readStdio, STDIO_KEYS } from './stdio-entry.ts';
import { MAX_TIMER_MS } from '../../core/timer.ts';

/** A member of `mcpServers`, located at `path`. */
export interface ServerEntry extends TreeMember {
  readonly path: readonly string[];
}

/** The server that an entry describes. Undefined if it is disabled, or invalid and reported as a problem. */
export function readServer(
  member: ServerEntry,
  here: EntryContext,
  collector: ProblemCollector,
): ServerSpec | undefined {
  const { path, value: node, key: name } = member;
  if (node.type !== 'object') {
    collector.problem({ node, path }, 'this is not an object', 'Write the server as an object in braces.');
    return undefined;
  }
  const before = collector.problems.length;
  const entry: Entry = { node, path, fields: fieldsOf(member, collector), here, collector };
  if (optionAt(entry, 'disabled', BOOLEAN) === true) return undefined;
  checkName(member, collector);
  const isolation = optionAt(entry, 'isolation', ISOLATION);
  const toolFilter = optionAt(entry, 'tools', TOOL_FILTER);
  const trust = optionAt(entry, 'trust', BOOLEAN);
  const tags = optionAt(entry, 'tags', TAGS);
  const prefix = optionAt(entry, 'prefix', BOOLEAN) ?? true;
  const timeoutMs = optionAt(entry, 'timeoutMs', TIMEOUT) ?? DEFAULT_TIMEOUT_MS;
  const transport = readTransport(entry);
  if (transport === undefined || collector.problems.length > before) return undefined;
  return {
    name,
    transport,
    timeoutMs,
    prefix,
    isolation: isolation ?? sourceKind(transport).isolation,
    isFromConfig: true,
    ...(trust !== undefined && { trust }),
    ...(tags !== undefined && tags.length > 0 && { tags }),
    ...(toolFilter !== undefined && { toolFilter }),
  };
}

function fieldsOf(member: ServerEntry, collector: ProblemCollector): ReadonlyMap<string, Node> {
  const fields = new Map<string, Node>();
  for (const { key, keyNode, value } of membersOf(member.value)) {
    const position = { node: keyNode, path: [...member.path, key] };
    if (fields.has(key)) collector.problem(position, 'this key appears twice', 'Keep one of the two.');
    else fields.set(key, value);
  }
  return fields;
}

function checkName({ key, keyNode, path }: ServerEntry, collector: ProblemCollector): void {
  const fault = nameFault(key);
  const at = { node: keyNode, path };
  if (fault !== undefined) collector.problem(at, `the name of the server cannot be used: ${fault}`, RENAME);
  else if (key.toLowerCase() === CUSTOM_SERVER)
    collector.problem(at, `the name "${CUSTOM_SERVER}" is reserved for tools of your own`, RENAME);
}

const RENAME = 'Give it another name.';

const BOOLEAN: Option<boolean> = {
  wanted: 'true or false',
  read: (node) => (node.type === 'boolean' ? node.value === true : undefined),
};
const TIMEOUT: Option<number> = {
  wanted: `a whole number of milliseconds from 1 to ${MAX_TIMER_MS}`,
  read: ({ type, value }) => {
    const isGood =
      type === 'number' && Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_TIMER_MS;
    return isGood ? Number(value) : undefined;
  },
};
function isIsolation(value: unknown): value is ServerSpec['isolation'] {
  return value === 'session' || value === 'shared';
}

const ISOLATION: Option<ServerSpec['isolation']> = {
  wanted: '"session" or "shared"',
  read: ({ value }) => (isIsolation(value) ? value : undefined),
};
const TAGS: Option<readonly string[]> = {
  wanted: `a list of at most ${MAX_TAGS} tags of 1 to 50 characters`,
  read: (node) => {
    const value: unknown = getNodeValue(node);
    return isTagList(value) ? value : undefined;
  },
};
/** A list alone is a list of allowed tools, as some clients write it. */
const TOOL_FILTER: Option<ToolFilter> = {
  wanted: `an object with "allow", "deny" or both, each a list of at most ${MAX_PATTERNS} tool names, in which * matches any characters`,
  read: (node) => {
    const value: unknown = getNodeValue(node);
    return isPatternList(value) ? { allow: value } : patternLists(value, ['allow', 'deny']);
  },
};

const COMMON_KEYS: readonly string[] = [
  'type',
  'disabled',
  'prefix',
  'timeoutMs',
  'isolation',
  'trust',
  'tags',
  'tools',
];

type TransportType = 'stdio' | 'auto' | 'streamable' | 'sse' | 'openapi' | 'codebase';

/** VS Code's `http` falls back to the older transport if a server does not support the newer; other names are exact. */
const TYPES: ReadonlyMap<unknown, TransportType> = new Map<unknown, TransportType>([
  ['stdio', 'stdio'],
  ['http', 'auto'],
  ['streamable-http', 'streamable'],
  ['streamableHttp', 'streamable'],
  ['sse', 'sse'],
  ['openapi', 'openapi'],
  ['codebase', 'codebase'],
]);

const TYPE: Option<TransportType> = {
  wanted: [...TYPES.keys()]
    .map((name) => JSON.stringify(name))
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' or '),
  read: ({ value }) => TYPES.get(value),
};

function readTransport(entry: Entry): Transport | undefined {
  const way = entry.fields.has('type') ? optionAt(entry, 'type', TYPE) : wayByKeys(entry);
  if (way === undefined) return undefined;
  const { keys, read } = READERS[way];
  warnOfUnused(entry, keys);
  return read(entry);
}

interface Reader {
  readonly keys: readonly string[];
  readonly read: (entry: Entry) => Transport | undefined;
}

const READERS: Readonly<Record<TransportType, Reader>> = {
  stdio: { keys: STDIO_KEYS, read: readStdio },
  auto: { keys: HTTP_KEYS, read: (entry) => readHttp(entry, 'auto') },
  streamable: { keys: HTTP_KEYS, read: (entry) => readHttp(entry, 'streamable') },
  sse: { keys: HTTP_KEYS, read: (entry) => readHttp(entry, 'sse') },
  openapi: { keys: OPENAPI_KEYS, read: readOpenapi },
  codebase: { keys: CODEBASE_KEYS, read: readCodebase },
};

function wayByKeys({ fields, collector, node, path }: Entry): TransportType | undefined {
  if (fields.has('openapi') || fields.has('document')) return 'openapi';
  const [hasCommand, hasUrl] = [fields.has('command'), URL_KEYS.some((key) => fields.has(key))];
  if (hasCommand !== hasUrl) return hasCommand ? 'stdio' : 'auto';
  if (hasCommand)
    collector.problem(
      { node, path },
      'there are both a "command" and a "url"',
      'Keep one, or select one with "type".',
    );
  else
    collector.problem(
      { node, path },
      '"command", "url" or "openapi" is missing',
      misspelt([...fields.keys()], ['command', 'url', 'openapi']) ??
        'Add the one that the server is reached by.',
    );
  return undefined;
}

/** Which of the given keys probably means which known one. */
function misspelt(written: readonly string[], known: readonly string[]): string | undefined {
  for (const key of written) {
    const meant = nearest(key, known);
    // Short keys are close to each other.
    if (meant?.startsWith(key.charAt(0).toLowerCase()) === true)
      return `Did you mean ${JSON.stringify(meant)} instead of ${quoted(key)}?`;
  }
  return undefined;
}

function warnOfUnused(entry: Entry, used: readonly string[]): void {
  const known = [...used, ...COMMON_KEYS];
  for (const key of entry.fields.keys()) {
    const position = positionAt(entry, key);
    if (position === undefined || known.includes(key)) continue;
    const isKnown = Object.values(READERS).some(({ keys }) => keys.includes(key));
    const reason = isKnown
      ? 'this key has no effect on a server of this type'
      : 'this key is unknown and has no effect';
    const meant = isKnown ? undefined : misspelt([key], known);
    entry.collector.warn(position, reason, meant ?? `Known here: ${known.join(', ')}.`);
  }
}
