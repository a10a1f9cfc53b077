import type { Node } from 'jsonc-parser';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import {
  described,
  flag,
  list,
  oneOf,
  record,
  type Reader,
  getSchema,
  getSchemas,
  fitText,
  wholeNumber,
  withSchema,
} from '@assay-mcp/kit/json-reader';
import { findNameFault } from '../../core/name-fault.ts';
import { findNearest } from '@assay-mcp/kit/nearest';
import {
  DEFAULT_TIMEOUT_MS,
  CUSTOM_SERVER,
  type ServerSpec,
  type Transport,
} from '../../core/server-spec.ts';
import type { EntryReference } from '../../core/secrets/value-reference.ts';
import { getSourceKind, startsProcess } from '../../core/sources/source-kinds.ts';
import { MAX_TAGS, findTagFault } from '../../core/tool-settings.ts';
import { MAX_TIMER_MS } from '@assay-mcp/kit/timer';
import { MAX_RESULT_LIMIT, MIN_RESULT_LIMIT, type ResultLimits } from '../../core/result-limits.ts';
import type { ToolFilter } from '../../core/tool-filter.ts';
import {
  readOptionAt,
  findPositionAt,
  type Entry,
  type EntryContext,
  type EntryMembers,
} from './entry-fields.ts';
import { HTTP_MEMBERS, readHttp } from './http-entry.ts';
import { URL_KEYS } from '../../core/sources/url-keys.ts';
import { getTreeMembers, type TreeMember } from './json-tree.ts';
import { OPENAPI_MEMBERS, readOpenapi } from './openapi-entry.ts';
import { patternList, readPatternLists } from './pattern-lists.ts';
import { type ProblemCollector, quoteConfigKey } from './problem-collector.ts';
import { readStdio, STDIO_MEMBERS, readRoots, readVariables, stopTimeout } from './stdio-entry.ts';

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
  const references: EntryReference[] = [];
  const entry: Entry = { node, path, fields: fieldsOf(member, collector), here, collector, references };
  if (readOptionAt(entry, 'disabled', COMMON_MEMBERS.disabled) === true) return undefined;
  checkName(member, collector);
  const isolation = readOptionAt(entry, 'isolation', COMMON_MEMBERS.isolation);
  const toolFilter = readOptionAt(entry, 'tools', COMMON_MEMBERS.tools);
  const trust = readOptionAt(entry, 'trust', COMMON_MEMBERS.trust);
  const tags = readOptionAt(entry, 'tags', COMMON_MEMBERS.tags);
  const resultLimits = readOptionAt(entry, 'maxResultBytes', COMMON_MEMBERS.maxResultBytes);
  const prefix = readOptionAt(entry, 'prefix', COMMON_MEMBERS.prefix) ?? true;
  const timeoutMs = readOptionAt(entry, 'timeoutMs', COMMON_MEMBERS.timeoutMs) ?? DEFAULT_TIMEOUT_MS;
  const transport = readTransport(entry);
  const keepAlive =
    transport && startsProcess(transport) ? readOptionAt(entry, 'keepAlive', flag) : undefined;
  const stopTimeoutMs =
    transport?.kind === 'stdio' ? readOptionAt(entry, 'stopTimeoutMs', stopTimeout) : undefined;
  if (transport !== undefined && references.length > 0 && !REFERRING.has(transport.kind))
    collector.problem(
      { node, path },
      'an entry of this type cannot refer to a secret, file or command',
      'Use an environment variable: ${NAME}.',
    );
  if (transport === undefined || collector.problems.length > before) return undefined;
  return {
    name,
    transport,
    timeoutMs,
    prefix,
    isolation: isolation ?? getSourceKind(transport).isolation,
    isFromConfig: true,
    ...(keepAlive !== undefined && { keepAlive }),
    ...(stopTimeoutMs !== undefined && { stopTimeoutMs }),
    ...(trust !== undefined && { trust }),
    ...(tags !== undefined && tags.length > 0 && { tags }),
    ...(toolFilter !== undefined && { toolFilter }),
    ...(resultLimits !== undefined && { resultLimits }),
    ...(references.length > 0 && { references: withoutOverridden(references) }),
  };
}

/** The kinds whose values are read when they are connected. */
const REFERRING: ReadonlySet<Transport['kind']> = new Set(['stdio', 'http', 'codebase']);

/** A member is read once for each way to look at it. */
function withoutOverridden(references: readonly EntryReference[]): readonly EntryReference[] {
  return [...new Map(references.map((one) => [`${one.member} ${one.name}`, one])).values()];
}

function fieldsOf(member: ServerEntry, collector: ProblemCollector): ReadonlyMap<string, Node> {
  const fields = new Map<string, Node>();
  for (const { key, keyNode, value } of getTreeMembers(member.value)) {
    const position = { node: keyNode, path: [...member.path, key] };
    if (fields.has(key)) collector.problem(position, 'this key appears twice', 'Keep one of the two.');
    else fields.set(key, value);
  }
  return fields;
}

function checkName({ key, keyNode, path }: ServerEntry, collector: ProblemCollector): void {
  const fault = findNameFault(key);
  const at = { node: keyNode, path };
  if (fault !== undefined) collector.problem(at, `the name of the server cannot be used: ${fault}`, RENAME);
  else if (key.toLowerCase() === CUSTOM_SERVER)
    collector.problem(at, `the name "${CUSTOM_SERVER}" is reserved for tools of your own`, RENAME);
}

const RENAME = 'Give it another name.';

type TransportType = 'stdio' | 'auto' | 'streamable' | 'sse' | 'openapi' | 'codebase';

/** VS Code's `http` falls back to the older transport if a server does not support the newer; other names are exact. */
const TYPES = {
  stdio: 'stdio',
  http: 'auto',
  'streamable-http': 'streamable',
  streamableHttp: 'streamable',
  sse: 'sse',
  openapi: 'openapi',
  codebase: 'codebase',
} as const satisfies Readonly<Record<string, TransportType>>;

const names = patternList();
const lists = readPatternLists(['allow', 'deny'], names);

/** A list alone is a list of allowed tools, as some clients write it. */
const toolFilter: Reader<ToolFilter> = withSchema(
  (position) => (Array.isArray(position.value) ? { allow: names(position) } : lists(position)),
  () => ({ anyOf: [getSchema(lists), getSchema(names)] }),
);

const resultLimit = wholeNumber({ min: MIN_RESULT_LIMIT, max: MAX_RESULT_LIMIT });
const limitsByTool = record(resultLimit);
const resultLimits: Reader<ResultLimits> = withSchema(
  (position) =>
    typeof position.value === 'number' ? { '*': resultLimit(position) } : limitsByTool(position),
  () => ({ anyOf: [getSchema(resultLimit), getSchema(limitsByTool)] }),
);

/** Members of every kind of server. A test compares the descriptions with docs/CONFIG.md. */
const COMMON_MEMBERS = {
  type: described(
    'stdio, http, streamable-http, streamableHttp, sse, openapi or codebase',
    oneOf(['stdio', 'http', 'streamable-http', 'streamableHttp', 'sse', 'openapi', 'codebase']),
  ),
  disabled: described('whether the entry is left out', flag),
  prefix: described("whether public names begin with the server's name", flag),
  timeoutMs: described(
    'maximum time in ms without a result or progress in one call',
    wholeNumber({ min: 1, max: MAX_TIMER_MS }),
  ),
  isolation: described(
    'session: each client session has its own process (stdio) or session (HTTP) of the server, and the server can send it requests; shared: all sessions share one, which is started without client capabilities',
    oneOf(['session', 'shared']),
  ),
  trust: described('whether the hints of its tools may lower caution: see Annotations', flag),
  tags: described(
    'your tags of all its tools, for rules; private and outbound have a special meaning',
    list(fitText(findTagFault, { minLength: 1 }), { max: MAX_TAGS, of: 'tags' }),
  ),
  tools: described(
    'which of its tools are offered: { "allow": ["list_*"], "deny": ["*delete*"] }, or a list of allowed ones; * stands for any characters, and deny takes precedence',
    toolFilter,
  ),
  maxResultBytes: described(
    'maximum size of a result in bytes, 10000 to 67108864; of a larger one the middle is left out, with a link to the full result. One number for all tools, or one per pattern: { "export_*": 200000 }; the first match wins',
    resultLimits,
  ),
};

function readTransport(entry: Entry): Transport | undefined {
  const type = readOptionAt(entry, 'type', COMMON_MEMBERS.type);
  const way = entry.fields.has('type') ? type && TYPES[type] : wayByKeys(entry);
  if (way === undefined) return undefined;
  const { members, read } = KINDS[way];
  warnOfUnused(entry, Object.keys(members));
  return read(entry);
}

interface ServerKind {
  readonly members: EntryMembers;
  readonly read: (entry: Entry) => Transport | undefined;
  /** What an entry of this kind must have, as a JSON Schema. */
  readonly needs: JsonObject;
}

/** Members that the code-search server has in common with stdio servers. */
const CODEBASE_SHARED: readonly string[] = ['env', 'envFile', 'keepAlive', 'roots'];

const CODEBASE_MEMBERS: EntryMembers = Object.fromEntries(
  Object.entries(STDIO_MEMBERS).filter(([name]) => CODEBASE_SHARED.includes(name)),
);

const KINDS: Readonly<Record<TransportType, ServerKind>> = {
  stdio: { members: STDIO_MEMBERS, read: readStdio, needs: { required: ['command'] } },
  auto: httpKind('auto'),
  streamable: httpKind('streamable'),
  sse: httpKind('sse'),
  openapi: {
    members: OPENAPI_MEMBERS,
    read: readOpenapi,
    needs: { oneOf: [{ required: ['openapi'] }, { required: ['document'] }] },
  },
  codebase: { members: CODEBASE_MEMBERS, read: readCodebase, needs: { required: ['type'] } },
};

function httpKind(flavour: 'auto' | 'streamable' | 'sse'): ServerKind {
  return {
    members: HTTP_MEMBERS,
    read: (entry) => readHttp(entry, flavour),
    needs: { anyOf: URL_KEYS.map((key) => ({ required: [key] })) },
  };
}

/** The JSON Schema of an entry. In it any text may contain variables. */
export function serverSchema(): JsonObject {
  const members = Object.assign({}, ...Object.values(KINDS).map((kind) => kind.members)) as EntryMembers;
  const kinds = new Map(Object.values(KINDS).map((kind) => [kind.members, kind])).values();
  const types = Object.entries(TYPES);
  return {
    type: 'object',
    properties: getSchemas({ ...COMMON_MEMBERS, ...members }),
    additionalProperties: false,
    anyOf: [
      ...[...kinds].map((kind) => ({
        properties: {
          type: {
            enum: types.filter(([, way]) => KINDS[way].members === kind.members).map(([type]) => type),
          },
        },
        propertyNames: { enum: Object.keys({ ...COMMON_MEMBERS, ...kind.members }) },
        ...kind.needs,
      })),
      { properties: { disabled: { const: true } }, required: ['disabled'] },
    ],
  };
}

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
    const meant = findNearest(key, known);
    // Short keys are close to each other.
    if (meant?.startsWith(key.charAt(0).toLowerCase()) === true)
      return `Did you mean ${JSON.stringify(meant)} instead of ${quoteConfigKey(key)}?`;
  }
  return undefined;
}

function warnOfUnused(entry: Entry, used: readonly string[]): void {
  const known = [...used, ...Object.keys(COMMON_MEMBERS)];
  for (const key of entry.fields.keys()) {
    const position = findPositionAt(entry, key);
    if (position === undefined || known.includes(key)) continue;
    const isKnown = Object.values(KINDS).some(({ members }) => Object.hasOwn(members, key));
    const reason = isKnown
      ? 'this key has no effect on a server of this type'
      : 'this key is unknown and has no effect';
    const meant = isKnown ? undefined : misspelt([key], known);
    entry.collector.warn(position, reason, meant ?? `Known here: ${known.join(', ')}.`);
  }
}

const SETTINGS = 'ASSAY_CODEBASE_';

/** Reads Assay's own code-search server: `{"type": "codebase"}`. Its settings are variables, as for `assay codebase`. */
function readCodebase(entry: Entry): Transport | undefined {
  const roots = readRoots(entry);
  if (roots === undefined) return undefined;
  const { env: environment, assayHome, cwd } = entry.here;
  const settings = Object.entries(environment).filter(
    (pair): pair is [string, string] => pair[0].startsWith(SETTINGS) && pair[1] !== undefined,
  );
  return {
    kind: 'codebase',
    command: process.execPath,
    args: ['--home', assayHome, ...roots.flatMap((root) => ['--root', root])],
    env: { ...Object.fromEntries(settings), ...readVariables(entry) },
    cwd,
    ...(roots.length > 0 && { roots }),
  };
}
