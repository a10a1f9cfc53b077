import { dirname, resolve } from 'node:path';
import type { Node } from 'jsonc-parser';
import type { Cause } from '../../core/cause.ts';
import { isFormerSetting } from '../../core/fixed-limits.ts';
import { findNearest } from '@assay-mcp/kit/nearest';
import type { Refusal } from '../../core/refusal.ts';
import { findSettingFault } from '../../core/resolve-settings.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { PolicyRule } from '../../core/policy/rule.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { SettingFacts } from '../../core/setting-kind.ts';
import { SETTINGS } from '../../core/settings.ts';
import { toCustomServerSpec } from '../../core/sources/custom-server.ts';
import { readTextNow } from '@assay-mcp/kit/platform/files';
import { findUnsafePath } from '@assay-mcp/kit/platform/path-safety';
import { ProblemCollector, type ConfigProblem, quoteConfigKey } from './problem-collector.ts';
import type { EntryContext } from './entry-fields.ts';
import { getTreeMembers, parseJsonTree, toPosition, type SyntaxFault, type TreeMember } from './json-tree.ts';
import { locateHome } from '@assay-mcp/kit/platform/locate-home';
import { readFunctions, readTools } from './local-entries.ts';
import { readPolicy } from './policy-entry.ts';
import { readServer, type ServerEntry } from './server-entry.ts';

/** The servers in a config file, in its order, and the errors in the rest. */
export interface Config {
  /** Absolute. */
  readonly path: string;
  readonly servers: readonly ServerSpec[];
  /** Entries that are too broken to define a server, each with its first problem. */
  readonly rejected: readonly { readonly name: string; readonly cause: Cause }[];
  /** `settings` by key; only known and valid ones. */
  readonly settings: ReadonlyMap<string, unknown>;
  readonly rules: readonly PolicyRule[];
  /** Each disabled its entry, or one key outside the entries. */
  readonly problems: readonly ConfigProblem[];
  /** Faults that disable nothing. */
  readonly warnings: readonly ConfigProblem[];
}

/** The environment for reading the file: the process's variables and working directory, and the user's home folder. */
export interface ConfigEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  /** The absolute folder of Assay's data, if the variables must not decide it. */
  readonly assayHome?: string;
}

/**
 * Reads `mcp.json` as Claude, Cursor and VS Code write it, with comments and trailing commas. An invalid entry is
 * reported as a problem and left out. CONFIG_UNREADABLE (no file), CONFIG_INVALID (not a JSON object, or a wrong rule) or
 * PATH_UNSAFE on failure.
 */
export function loadConfig(path: string, environment: ConfigEnvironment): Result<Config, Refusal> {
  const file = resolve(environment.cwd, path);
  const unsafe = findUnsafePath(file, environment);
  if (unsafe !== undefined) return err(unsafe);
  const text = readTextNow(file);
  if (!text.ok) return err({ code: 'CONFIG_UNREADABLE', path: file, reason: text.error.reason });
  return readConfigText(file, text.value, environment);
}

/** The config of a missing file. */
export function createEmptyConfig(path: string): Config {
  return { path, servers: [], rejected: [], settings: new Map(), rules: [], problems: [], warnings: [] };
}

/** Reads a config from a text; `file` is its path. */
export function readConfigText(
  file: string,
  text: string,
  environment: ConfigEnvironment,
): Result<Config, Refusal> {
  const invalid = (offset: number, reason: string): Result<Config, Refusal> => {
    const { line, column } = toPosition(text, offset);
    return err({ code: 'CONFIG_INVALID', path: file, reason: `line ${line}, column ${column}: ${reason}` });
  };
  const tree = parseJsonTree(text);
  if (!tree.ok) return invalid(tree.error.offset, tree.error.reason);
  if (tree.value.type !== 'object')
    return invalid(tree.value.offset, 'the file must contain one JSON object');

  const rules = readPolicies(tree.value);
  if (!rules.ok) return invalid(rules.error.offset, rules.error.reason);
  const collector = new ProblemCollector(file, text);
  const here = {
    ...environment,
    configDir: dirname(file),
    assayHome: environment.assayHome ?? locateHome(environment),
  };
  const { entries, settings, local } = readTopLevel(tree.value, here, collector);
  const servers: ServerSpec[] = [];
  const rejected: Config['rejected'][number][] = [];
  for (const entry of entries) {
    const before = collector.problems.length;
    const server = readServer(entry, here, collector);
    const first = collector.problems[before];
    if (server !== undefined) servers.push(server);
    else if (first !== undefined) rejected.push({ name: entry.key, cause: causeOf(first) });
  }
  const own = toCustomServerSpec(local);
  if (own !== undefined) servers.push(own);
  const { problems, warnings } = collector;
  return ok({ path: file, servers, rejected, settings, rules: rules.value, problems, warnings });
}

function causeOf({ line, key, reason, remedy }: ConfigProblem): Cause {
  return { code: 'ENTRY_INVALID', line, key, reason, remedy };
}

/** VS Code uses `servers`. */
const SERVERS: ReadonlySet<string> = new Set(['mcpServers', 'servers']);
const OBJECTS: ReadonlySet<string> = new Set([...SERVERS, 'settings', 'featureFlags', 'tools', 'policy']);
const ARRAYS: ReadonlySet<string> = new Set(['functions']);
/** Keys that other programs use in the same file. */
const PASSED_OVER: ReadonlySet<string> = new Set(['$schema', 'inputs']);

/** Read first: if the rules cannot be used, nothing else in the file is. */
function readPolicies(root: Node): Result<readonly PolicyRule[], SyntaxFault> {
  const [first, second] = getTreeMembers(root).filter(({ key }) => key === 'policy');
  if (second !== undefined)
    return err({ offset: second.keyNode.offset, reason: 'the key "policy" appears twice' });
  return first === undefined ? ok([]) : readPolicy(first.value);
}

interface TopLevel {
  readonly entries: readonly ServerEntry[];
  readonly settings: ReadonlyMap<string, unknown>;
  readonly local: Parameters<typeof toCustomServerSpec>[0];
}

function readTopLevel(root: Node, here: EntryContext, collector: ProblemCollector): TopLevel {
  const entries: ServerEntry[] = [];
  let settings: TopLevel['settings'] = new Map();
  let local: TopLevel['local'] = { tools: [], modules: [] };
  const seen = new Set<string>();
  for (const { key, keyNode, value } of getTreeMembers(root)) {
    const atKey = { node: keyNode, path: [key] };
    const isKnown = OBJECTS.has(key) || ARRAYS.has(key);
    if (isKnown && seen.has(key)) collector.problem(atKey, 'this key appears twice', 'Keep one of the two.');
    else if (ARRAYS.has(key) && value.type !== 'array')
      collector.problem({ node: value, path: [key] }, 'this is not an array', 'Write an array in brackets.');
    else if (OBJECTS.has(key) && value.type !== 'object')
      collector.problem({ node: value, path: [key] }, 'this is not an object', 'Write an object in braces.');
    else if (SERVERS.has(key))
      entries.push(...getTreeMembers(value).map((member) => ({ ...member, path: [key, member.key] })));
    else if (key === 'settings' || key === 'featureFlags')
      settings = new Map([...settings, ...readSettings(value, collector, key)]);
    else if (key === 'tools') local = { ...local, tools: readTools(value, here, collector) };
    else if (key === 'functions') local = { ...local, modules: readFunctions(value, here, collector) };
    else if (!isKnown && !PASSED_OVER.has(key)) complainOfUnknown({ key, keyNode, value }, collector);
    seen.add(key);
  }
  return { entries: withoutDuplicates(entries, collector), settings, local };
}

/** An unknown key is a problem if servers are probably in it, as they are then not served; otherwise a warning. */
function complainOfUnknown({ key, keyNode, value }: TreeMember, collector: ProblemCollector): void {
  const at = { node: keyNode, path: [key] };
  const members = value.type === 'object' ? getTreeMembers(value).map((member) => member.key) : [];
  const meant = knownKey(key);
  if (meant !== undefined)
    collector.problem(at, 'this key is unknown and has no effect', `Did you mean ${quoteConfigKey(meant)}?`);
  else if (members.some((member) => SERVERS.has(member)))
    collector.problem(
      at,
      'servers inside of this key are not read',
      'Move "mcpServers" or "servers" to the top level of the file.',
    );
  else if (members.includes('command') || members.includes('url'))
    collector.problem(
      at,
      'this looks like a server outside of "mcpServers"',
      `Move it there: { "mcpServers": { ${quoteConfigKey(key)}: … } }.`,
    );
  else collector.warn(at, 'this key is unknown and has no effect', 'Servers belong under "mcpServers".');
}

/** The top-level key that a near miss such as `mcpservers`, `mcp_servers` or `server` means. */
function knownKey(written: string): string | undefined {
  const plain = written.replaceAll(/[\s_-]/g, '').toLowerCase();
  const meant = findNearest(plain, [...OBJECTS, ...ARRAYS]);
  // Other programs' keys, such as "hooks", are as close to "tools".
  return meant?.startsWith(plain.charAt(0)) === true ? meant : undefined;
}

/** If two servers have the same name, the first wins. */
function withoutDuplicates(
  entries: readonly ServerEntry[],
  collector: ProblemCollector,
): readonly ServerEntry[] {
  const names = new Set<string>();
  return entries.filter((entry) => {
    const isDuplicate = names.has(entry.key);
    if (isDuplicate)
      collector.problem(
        { node: entry.keyNode, path: entry.path },
        'another server above has this name',
        'Give this one another name.',
      );
    names.add(entry.key);
    return !isDuplicate;
  });
}

/** The known, valid settings in `settings` or `featureFlags` of a config file. An invalid one affects only itself. */
export function readSettings(
  object: Node,
  collector: ProblemCollector,
  member: 'settings' | 'featureFlags' = 'settings',
): ReadonlyMap<string, unknown> {
  const settings = new Map<string, unknown>();
  const seen = new Set<string>();
  for (const { key, keyNode, value } of getTreeMembers(object)) {
    const path = [member, key];
    const facts = FACTS[member].get(key);
    const fault = facts && findSettingFault(facts, value.value);
    if (isFormerSetting(key))
      collector.warn(
        { node: keyNode, path },
        'this is no longer a setting and has no effect',
        'Remove it: the limit is fixed, see `assay docs limits`.',
      );
    else if (facts === undefined)
      collector.warn(
        { node: keyNode, path },
        'this setting is unknown and has no effect',
        instead(key, member),
      );
    else if (seen.has(key))
      collector.problem({ node: keyNode, path }, 'this key appears twice', 'The first one is used.');
    else if (fault !== undefined)
      collector.problem({ node: value, path }, fault, 'It is ignored until then.');
    else settings.set(key, value.value);
    seen.add(key);
  }
  return settings;
}

const ALL: readonly (readonly [string, SettingFacts])[] = Object.entries(SETTINGS);

const FACTS: Readonly<Record<'settings' | 'featureFlags', ReadonlyMap<string, SettingFacts>>> = {
  settings: new Map(ALL),
  featureFlags: new Map(ALL.filter(([, { kind }]) => kind.type === 'flag')),
};

function instead(key: string, member: keyof typeof FACTS): string {
  const meant = findNearest(key, [...FACTS[member].keys()]);
  if (meant !== undefined) return `Did you mean ${quoteConfigKey(meant)}?`;
  return member === 'settings'
    ? '`assay settings` shows all; each is one key with a dot in it, such as "limits.sessions".'
    : `Known: ${[...FACTS.featureFlags.keys()].join(', ')}.`;
}
