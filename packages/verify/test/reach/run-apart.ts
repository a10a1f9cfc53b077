import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { install } from './installed.ts';
import type { Part, ReachServer } from './servers.ts';

const PARTS: readonly Part[] = ['tuning', 'held-out'];

/** The options of a measurement, and the packages to which it is limited. */
export interface ReachOptions {
  readonly help: boolean;
  readonly list: boolean;
  readonly tools: boolean;
  /** The package that this process measures, for its parent. */
  readonly one: string | undefined;
  readonly parts: readonly Part[];
  readonly isChosen: (server: ReachServer) => boolean;
}

/** Throws if an option is unknown or its value is none. */
export function parseOptions(): ReachOptions {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      part: { type: 'string' },
      list: { type: 'boolean', default: false },
      tools: { type: 'boolean', default: false },
      one: { type: 'string' },
    },
  });
  const parts = PARTS.filter((part) => values.part === undefined || values.part === part);
  if (parts.length === 0) throw new Error(`--part must be ${PARTS.join(' or ')}`);
  return {
    ...{ help: values.help, list: values.list, tools: values.tools, one: values.one, parts },
    isChosen: (server) => positionals.length === 0 || positionals.includes(server.package),
  };
}

/** Runs `script --one PACKAGE` in a process of its own, and returns what it prints. Undefined, and says so, if it fails. */
export async function runApart<T>(
  script: string,
  server: ReachServer,
  { part, limitMs }: { readonly part: Part; readonly limitMs: number },
): Promise<T | undefined> {
  await install(server);
  const own = [script, '--one', server.package];
  const { status, stdout, stderr } = spawnSync(process.execPath, own, { encoding: 'utf8', timeout: limitMs });
  if (status === 0) return JSON.parse(stdout) as T;
  console.log(`${part}\t${server.package}\tfailed: ${stderr.trim().split('\n').at(-1) ?? ''}`);
  return undefined;
}

/** Throws if there is none. */
export function findServer(servers: readonly ReachServer[], name: string): ReachServer {
  const server = servers.find((one) => one.package === name);
  if (server === undefined) throw new Error(`no server ${name}`);
  return server;
}
