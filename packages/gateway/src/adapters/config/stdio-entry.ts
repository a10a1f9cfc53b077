import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import {
  SANDBOX_CONCESSIONS,
  SANDBOX_MODES,
  type SandboxConcession,
  type SandboxMode,
} from '@assay-mcp/sandbox/rights';
import { MAX_STOP_TIMEOUT_MS } from '../../core/containers.ts';
import type { Transport } from '../../core/server-spec.ts';
import { ANY_HOST, readAllowedHost } from '@assay-mcp/sandbox/network-rules';
import { splitCommandRemedy } from '../../core/split-command.ts';
import type { ConfigPosition } from './problem-collector.ts';
import { readTextWithinNow } from '@assay-mcp/kit/platform/bounded-file';
import { described, flag, list, oneOf, type Reader, text, wholeNumber } from '@assay-mcp/kit/json-reader';
import {
  readOptionAt,
  findPositionAt,
  expandTextAt,
  expandTextsAt,
  type Entry,
  type EntryMembers,
  textList,
  textRecord,
} from './entry-fields.ts';
import { expandHome } from '@assay-mcp/kit/platform/locate-home';

const sandbox = oneOf<SandboxMode | 'off'>(['off', ...SANDBOX_MODES]);

export const stopTimeout: Reader<number> = wholeNumber({ min: 1, max: MAX_STOP_TIMEOUT_MS });

/** A test compares the descriptions with docs/CONFIG.md. */
export const STDIO_MEMBERS: EntryMembers = {
  command: described('program that starts the server', text),
  args: described('array of strings', textList),
  env: described('object of strings or numbers; null counts as absent', textRecord),
  envFile: described('file with lines of NAME=value, read with the config file; env takes precedence', text),
  cwd: described('folder; a relative one starts at the folder of the config file', text),
  sandbox: described(
    'twin: calls of its read-only tools go to a second process that cannot change files; strict: the server itself runs in a sandbox, too; off',
    sandbox,
  ),
  network: described(
    'hosts that its sandboxed processes may connect to, such as "api.example.com", "*.example.com", "localhost:8080", or "*"',
    textList,
  ),
  roots: described(
    'files and folders that its sandboxed processes may read, and with strict change, beside cwd and the folders in args',
    textList,
  ),
  keepAlive: described(
    'whether its process runs all the time; otherwise it is stopped while nothing uses it, and started by the next call',
    flag,
  ),
  stopTimeoutMs: described(
    'time in ms that its process has to exit after its stdin closes, and again after SIGTERM, before it is killed',
    stopTimeout,
  ),
  sandboxAccepts: described(
    'what you accept of its sandbox: separate_state, node_permission',
    list(oneOf(SANDBOX_CONCESSIONS)),
  ),
};

/** Reads a server run as a child process. Undefined, with an error reported, if it has no usable command. */
export function readStdio(entry: Entry): Transport | undefined {
  const command = readCommand(entry);
  const env = readVariables(entry);
  const args = readArgs(withOwnVariables(entry, env));
  const cwd = readCwd(entry);
  const mode = readOptionAt(entry, 'sandbox', sandbox);
  const roots = readRoots(entry);
  const network = readNetwork(entry);
  const accepted = readConcessions(entry);
  if (command === undefined || args === undefined || cwd === undefined) return undefined;
  if (roots === undefined || network === undefined || accepted === undefined) return undefined;
  const isCwdGiven = findPositionAt(entry, 'cwd') !== undefined;
  return {
    kind: 'stdio',
    command,
    args,
    env,
    cwd,
    ...(isCwdGiven && { isCwdGiven }),
    ...envFileOf(entry),
    ...(mode !== undefined && mode !== 'off' && { sandbox: mode }),
    ...(roots.length > 0 && { roots }),
    ...(network !== 'any' && { network }),
    ...(accepted.length > 0 && { sandboxAccepts: accepted }),
  };
}

/** Files and folders; a relative path starts at the config file's folder. */
export function readRoots(entry: Entry): readonly string[] | undefined {
  const { configDir, home } = entry.here;
  return readTexts(entry, 'roots')?.map((path) => resolve(configDir, expandHome(path, home)));
}

/** Hosts; an empty list allows none. */
function readNetwork(entry: Entry): readonly string[] | 'any' | undefined {
  const position = findPositionAt(entry, 'network');
  if (position === undefined) return 'any';
  const hosts = readTexts(entry, 'network');
  const bad = hosts?.find((host) => host !== ANY_HOST && readAllowedHost(host) === undefined);
  if (bad === undefined) return hosts;
  entry.collector.problem(
    position,
    `${JSON.stringify(bad)} is not a host`,
    'Write hosts such as "api.example.com", "*.example.com" or "localhost:8080", or "*".',
  );
  return undefined;
}

function readConcessions(entry: Entry): readonly SandboxConcession[] | undefined {
  const position = findPositionAt(entry, 'sandboxAccepts');
  const written = readTexts(entry, 'sandboxAccepts');
  const known = SANDBOX_CONCESSIONS.filter((one) => written?.includes(one));
  const bad = written?.find((one) => !SANDBOX_CONCESSIONS.some((concession) => concession === one));
  if (position === undefined || written === undefined || bad === undefined) return written && known;
  entry.collector.problem(
    position,
    `${JSON.stringify(bad)} is nothing that can be accepted of a sandbox`,
    `Write ${SANDBOX_CONCESSIONS.map((one) => JSON.stringify(one)).join(' or ')}, or leave the key out.`,
  );
  return undefined;
}

function readCommand(entry: Entry): string | undefined {
  const position = findPositionAt(entry, 'command');
  const remedy = 'Write the program that starts the server, such as "npx".';
  if (position === undefined) {
    entry.collector.problem(entry, 'the key "command" is missing', remedy);
    return undefined;
  }
  const command = expandTextAt(entry, position);
  if (command?.trim() === '') {
    entry.collector.problem(position, 'the command is empty', remedy);
    return undefined;
  }
  if (command !== undefined) warnOfArguments(entry, position, command);
  return command && expandHome(command, entry.here.home);
}

/** A whole command line is started as one program of that name, which rarely exists. */
function warnOfArguments({ collector }: Entry, position: ConfigPosition, command: string): void {
  const remedy = splitCommandRemedy(command);
  if (remedy !== undefined) collector.warn(position, 'the command seems to contain its arguments', remedy);
}

/**
 * As mcp-remote documents it, `${AUTH}` in `args` may name a variable of the entry's own `env`, which then takes
 * precedence over the environment of Assay.
 */
function withOwnVariables(entry: Entry, env: Readonly<Record<string, string>>): Entry {
  const referring = new Set(entry.references?.map(({ name }) => name));
  return { ...entry, here: { ...entry.here, ofEntry: env, referring } };
}

function readArgs(entry: Entry): readonly string[] | undefined {
  return readTexts(entry, 'args')?.map((arg) => expandHome(arg, entry.here.home));
}

const NOUNS = {
  args: 'the arguments',
  roots: 'the paths',
  network: 'the hosts',
  sandboxAccepts: 'what you accept',
} as const;

/** An array of strings. Undefined, with an error reported, if it is something else. */
function readTexts(entry: Entry, key: keyof typeof NOUNS): readonly string[] | undefined {
  const position = findPositionAt(entry, key);
  if (position === undefined) return [];
  if (position.node.type !== 'array') {
    const remedy = `Write ${NOUNS[key]} as an array of strings.`;
    entry.collector.problem(position, 'this is not an array', remedy);
    return undefined;
  }
  const texts = (position.node.children ?? []).map((node, index) =>
    expandTextAt(entry, { node, path: [...position.path, index] }),
  );
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

/** The variables that the entry sets through `envFile` and `env`. */
export function readVariables(entry: Entry): Readonly<Record<string, string>> {
  return { ...readEnvFile(entry), ...readEnv(entry) };
}

function readEnv(entry: Entry): Readonly<Record<string, string>> {
  const env = expandTextsAt(entry, 'env');
  for (const { name, atName } of env) {
    const isBad = name === '' || name.includes('=') || name.includes('\0');
    if (isBad)
      entry.collector.problem(
        atName,
        'this cannot be the name of a variable',
        'A name is not empty and contains no "=".',
      );
  }
  return Object.fromEntries(env.map(({ name, text }) => [name, text]));
}

const MOST_ENV_FILE_BYTES = 1_048_576;

function envFileOf(entry: Entry): { readonly envFile?: string } {
  const position = findPositionAt(entry, 'envFile');
  const written = position && expandTextAt(entry, position);
  return written === undefined
    ? {}
    : { envFile: resolve(entry.here.configDir, expandHome(written, entry.here.home)) };
}

/** As in VS Code: lines of NAME=value, over which `env` takes precedence. Read with the config file. */
function readEnvFile(entry: Entry): Readonly<Record<string, string>> {
  const position = findPositionAt(entry, 'envFile');
  const { envFile: file } = envFileOf(entry);
  if (position === undefined || file === undefined) return {};
  const text = readTextWithinNow(file, MOST_ENV_FILE_BYTES);
  if (text.ok) return { ...parseEnv(text.value) } as Readonly<Record<string, string>>;
  entry.collector.problem(
    position,
    `the file cannot be read: ${text.error}`,
    'Write the path of a file with lines of NAME=value, or leave "envFile" out.',
  );
  return {};
}

/** Defaults to Assay's working directory, as in clients; a relative folder starts at the config file's. */
function readCwd(entry: Entry): string | undefined {
  const { cwd, home, configDir } = entry.here;
  const position = findPositionAt(entry, 'cwd');
  if (position === undefined) return cwd;
  const written = expandTextAt(entry, position);
  if (written === '') {
    entry.collector.problem(position, 'the folder is empty', 'Write a folder, or leave "cwd" out.');
    return undefined;
  }
  return written && resolve(configDir, expandHome(written, home));
}
