import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { FixedLimits } from '../../packages/gateway/src/core/fixed-limits.ts';
import { endLater, killLater, sleep, until } from './endings.ts';
import { send } from './http.ts';
import { at, listAt, type Json, type JsonObject } from './json.ts';
import { MAIN, ROOT, tempDir, writeConfig } from './paths.ts';
import { scaledMs } from './slow-machine.ts';

/** Runs `assay serve` with other fixed limits. */
const SERVE_WITH_LIMITS = join(ROOT, 'test', 'fixtures', 'serve-with-limits.ts');

export interface AssayOptions {
  readonly servers?: JsonObject;
  /** Other top-level members of the config file. */
  readonly settings?: JsonObject;
  /** A config file instead of `servers`. */
  readonly config?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: string;
  /** Other values for fixed limits. */
  readonly limits?: Partial<FixedLimits>;
  /** The main module of another build. */
  readonly main?: string;
  /** Its working directory and process group, if not those of the tests. */
  readonly place?: { readonly cwd?: string; readonly detached?: boolean };
}

/** A running gateway, in this process or as a program. */
export interface Gateway {
  /** Serves all tools of all servers, whatever toolset is equipped. */
  readonly url: string;
  readonly port: number;
  readonly home: string;
  /** Its log. */
  stderr(): string;
  health(): Promise<Json>;
  /** Waits until every server has started or failed, for which Assay gives it a minute. */
  settled(): Promise<Json>;
  /** Same effect as SIGTERM. */
  stop(): Promise<unknown>;
}

/** A running `assay serve`. */
export interface Assay extends Gateway {
  readonly pid: number;
  stdout(): string;
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Starts `assay serve` as users do and waits until it listens. */
export async function startAssay(options: AssayOptions): Promise<Assay> {
  const home = options.home ?? tempDir();
  const config = options.config ?? writeConfig(options.servers ?? {}, options.settings);
  const child = spawn(
    process.execPath,
    // Passing the flag avoids a restart of the program, a tenth of the processor time of its start. Port 0 picks any
    // free port; one found beforehand may be taken by another test meanwhile.
    [
      '--max-semi-space-size=16',
      ...(options.limits === undefined
        ? [options.main ?? MAIN, 'serve']
        : [SERVE_WITH_LIMITS, JSON.stringify(options.limits)]),
      '--config',
      config,
      '--port',
      '0',
      '--home',
      home,
      ...(options.args ?? []),
    ],
    { ...options.place, env: cleanEnv(options.env), stdio: 'pipe' },
  );
  const watched = watch(child);
  endLater(() => stopSoon(child, watched));
  const port = await until(
    () => `Assay says where it listens; stderr: ${watched.stderr()}`,
    () => {
      if (watched.hasEnded()) throw new Error(`Assay ended at its start:\n${watched.stderr()}`);
      const said = /endpoint +http:\/\/\S+:(\d+)\/mcp/.exec(watched.stdout())?.[1];
      return said === undefined ? undefined : Number(said);
    },
    15_000,
  );
  const assay: Assay = {
    url: `http://127.0.0.1:${port}/mcp/all`,
    port,
    home,
    pid: child.pid ?? 0,
    stderr: watched.stderr,
    stdout: watched.stdout,
    health: async () => (await send(`http://127.0.0.1:${port}/health`, { method: 'GET' })).json(),
    settled: () => settle(assay),
    stop: watched.stop,
  };
  await until(
    () => `Assay is listening; stderr: ${watched.stderr()}`,
    async () => {
      if (watched.hasEnded()) throw new Error(`Assay ended at its start:\n${watched.stderr()}`);
      const answer = await send(`http://127.0.0.1:${port}/health`, { method: 'GET' }).catch(() => undefined);
      return answer?.status === 200 ? true : undefined;
    },
    15_000,
  );
  return assay;
}

export interface Watched {
  readonly stderr: () => string;
  readonly stdout: () => string;
  readonly hasEnded: () => boolean;
  readonly ended: Promise<number | null>;
  /** Stops it and resolves with its exit code. */
  readonly stop: () => Promise<number | null>;
}

/** Collects a child's output and can stop it: SIGTERM, then SIGKILL after 8 s. */
export function watch(child: ChildProcessWithoutNullStreams): Watched {
  killLater(child.pid);
  let stderr = '';
  let stdout = '';
  let hasEnded = false;
  child.stdin.on('error', () => undefined);
  // A multi-byte character may be split across chunks.
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  const ended = new Promise<number | null>((resolve) => {
    child.on('error', () => {
      hasEnded = true;
      resolve(null);
    });
    child.on('close', (code) => {
      hasEnded = true;
      resolve(code);
    });
  });
  return {
    stderr: () => stderr,
    stdout: () => stdout,
    hasEnded: () => hasEnded,
    ended,
    stop: async () => {
      if (!hasEnded) child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), scaledMs(10_000));
      const code = await ended;
      clearTimeout(timer);
      return code;
    },
  };
}

/** Stops it without waiting for requests that a test left running. */
export async function stopSoon(child: ChildProcessWithoutNullStreams, watched: Watched): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGTERM'), 1_500);
  await watched.stop();
  clearTimeout(timer);
}

/** Runs a command to its end in its own process. `runAssay` is cheaper. */
export async function spawnAssay(
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly stdin?: string } = {},
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], { env: cleanEnv(options.env), stdio: 'pipe' });
  const watched = watch(child);
  endLater(async () => {
    await watched.stop();
  });
  child.stdin.end(options.stdin ?? '');
  const code = await watched.ended;
  return { code, stdout: watched.stdout(), stderr: watched.stderr() };
}

export { spawnAssay as runAssay };

/**
 * The environment of the tests without variables that would affect Assay or Node. Server processes run from the start,
 * as most tests are about what they do then; `idle-servers.test.ts` is about the default.
 */
export function cleanEnv(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(ASSAY_|VITEST|NODE_OPTIONS|NODE_ENV|DEBUG|FORCE_COLOR|NO_COLOR|npm_lifecycle_event)/.test(name),
  );
  return { ...Object.fromEntries(kept), ASSAY_SERVERS_IDLE_MS: '0', ...more };
}

/** The entry of one server in an answer of `/health`. */
export function serverIn(health: Json, name: string): Json {
  const found = listAt(health, 'servers').find((one) => at(one, 'name') === name);
  if (found === undefined) throw new Error(`No server ${name} in ${JSON.stringify(health)}`);
  return found;
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => {
        resolve(port);
      });
    });
  });
}

/** Waits until every server has started or failed. */
export function settle(assay: Pick<Gateway, 'health'>): Promise<Json> {
  return until(
    'all servers had their chance to start',
    async () => {
      const health = await assay.health();
      const isSettled = listAt(health, 'servers').every((one) => at(one, 'state') !== 'starting');
      if (!isSettled) return undefined;
      // Changes are announced a moment later; tests must begin after that.
      await sleep(150);
      return health;
    },
    60_000,
  );
}
