import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The npm packages of the servers. */
export const PACKAGES: readonly string[] = [
  '@modelcontextprotocol/server-everything',
  '@modelcontextprotocol/server-filesystem',
  '@modelcontextprotocol/server-github',
  '@modelcontextprotocol/server-memory',
  '@modelcontextprotocol/server-sequential-thinking',
  '@modelcontextprotocol/server-slack',
  '@notionhq/notion-mcp-server',
  '@playwright/mcp',
  '@upstash/context7-mcp',
];

export interface Entry {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly type?: 'http';
  readonly url?: string;
}

/** A person who has servers in three clients, two of them with other accounts, with a separate home folder. */
export interface Person {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cursor: ConfigFile;
  readonly claude: ConfigFile;
  readonly code: ConfigFile;
}

interface ConfigFile {
  readonly path: string;
  readonly servers: Readonly<Record<string, Entry>>;
  readonly text: string;
}

/** Fails because its token is missing, as happens to people who paste an entry from a list. */
export const FAILING = 'slack';

export interface Surroundings {
  /** The folder in which npm has installed Assay. */
  readonly prefix: string;
  readonly registry: string;
  readonly home: string;
  /** The URL of a server that is already running. */
  readonly remote: string;
}

export function newPerson(surroundings: Surroundings): Person {
  const { home, remote } = surroundings;
  const notes = join(home, 'notes');
  mkdirSync(notes, { recursive: true });
  writeFileSync(join(notes, '2026-11-17.md'), '# Tuesday\n\nTried Assay.\n');
  const npx = (name: string, ...args: readonly string[]): Entry => ({
    command: 'npx',
    args: ['-y', name, ...args],
  });
  const github = (token: string): Entry => ({
    ...npx('@modelcontextprotocol/server-github'),
    env: { GITHUB_PERSONAL_ACCESS_TOKEN: token },
  });
  const [privateToken, workToken] = ['0', '1'].map((digit) => `ghp_${digit.repeat(36)}`) as [string, string];
  const work = join(home, 'work');
  mkdirSync(work);
  const cursor = {
    github: github(privateToken),
    filesystem: npx('@modelcontextprotocol/server-filesystem', notes),
    memory: npx('@modelcontextprotocol/server-memory'),
    'sequential-thinking': npx('@modelcontextprotocol/server-sequential-thinking'),
    playwright: npx('@playwright/mcp', '--headless'),
    context7: npx('@upstash/context7-mcp'),
    [FAILING]: npx('@modelcontextprotocol/server-slack'),
  };
  const claude = {
    github: github(workToken),
    filesystem: npx('@modelcontextprotocol/server-filesystem', work),
    notion: { ...npx('@notionhq/notion-mcp-server'), env: { NOTION_TOKEN: 'ntn_0000000000000000' } },
    everything: npx('@modelcontextprotocol/server-everything'),
    team: { type: 'http' as const, url: remote },
  };
  const code = {
    github: github(privateToken),
    memory: npx('@modelcontextprotocol/server-memory'),
    playwright: npx('@playwright/mcp', '--headless'),
    context7: npx('@upstash/context7-mcp'),
    everything: npx('@modelcontextprotocol/server-everything'),
  };
  return {
    home,
    env: environment(surroundings),
    cursor: write(join(home, '.cursor', 'mcp.json'), { servers: cursor, indent: 2 }),
    code: write(join(home, '.config', 'Code', 'User', 'mcp.json'), {
      ...{ servers: code, indent: 2, key: 'servers' },
      rest: { inputs: [] },
    }),
    // Claude Code keeps much else in this file, and writes it with its own indentation.
    claude: write(join(home, '.claude.json'), {
      ...{ servers: claude, indent: 4 },
      rest: { numStartups: 12, theme: 'dark' },
    }),
  };
}

/** A minimal environment, in which `npx` takes the servers from its cache. */
function environment({ prefix, home, registry }: Surroundings): NodeJS.ProcessEnv {
  const path = [join(prefix, 'bin'), dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'];
  const npm = { cache: cacheIn(prefix), registry, 'prefer-offline': true, 'update-notifier': false };
  const lines = Object.entries(npm).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(home, '.npmrc'), lines.join(''));
  return { HOME: home, PATH: path.join(':'), LANG: 'C.UTF-8', USER: 'ada' };
}

/** The npm cache that belongs to the folder. */
export function cacheIn(prefix: string): string {
  return join(prefix, 'npm');
}

interface Content {
  readonly servers: Readonly<Record<string, Entry>>;
  readonly indent: number;
  /** The member that holds the servers. */
  readonly key?: string;
  readonly rest?: object;
}

function write(path: string, { servers, indent, key = 'mcpServers', rest = {} }: Content): ConfigFile {
  const text = `${JSON.stringify({ ...rest, [key]: servers }, undefined, indent)}\n`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return { path, servers, text };
}

export function entryIn(path: string, name: string): Entry {
  const { mcpServers, servers } = JSON.parse(readFileSync(path, 'utf8')) as Readonly<
    Record<string, Readonly<Record<string, Entry>>>
  >;
  const entry = (mcpServers ?? servers)?.[name];
  if (entry === undefined) throw new Error(`${path} has no server "${name}"`);
  return entry;
}
