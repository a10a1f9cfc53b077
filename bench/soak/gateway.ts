// The Assay under test: its start, its health and log, and its end.
import { type ChildProcessWithoutNullStreams, execFile } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { request } from 'undici';
import { signalGroup, type Processes } from '../processes.ts';
import { builtMain, ROOT } from '../targets.ts';
import { seek } from './soak-context.ts';
import { HttpClient } from './http-client.ts';
import type { Tally } from './tally.ts';

/** Only the first output is kept; it contains the endpoint. */
const MAX_OUTPUT_LENGTH = 100_000;
const START_WITHIN_MS = 60_000;
const END_WITHIN_MS = 20_000;
/** Abandoned sessions, with their connections to servers, end before the handles are counted. */
const SESSION_IDLE_MS = '20000';
/** More than are in use at once and fewer than exist with those abandoned meanwhile, so that the oldest are evicted. */
const SESSIONS = '12';
/** Hostile clients open more at once. */
const SESSIONS_WITH_HOSTILE = '200';
const METRICS_SAMPLE_MS = 100;
const ERROR_LEVEL = 50;
const WARN_LEVEL = 40;

export interface Health {
  readonly configFault?: string;
  readonly servers: readonly { readonly name: string; readonly state: string; readonly cause?: string }[];
}

export class Gateway {
  /** All tools of all servers, whatever toolset is equipped. */
  readonly endpoint: string;
  readonly pid: number;
  /** Token of the honest clients, with the scopes `mcp` and `read`. */
  readonly token: string;
  /** Resolves with the exit code or the signal. */
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly #child: ChildProcessWithoutNullStreams;

  private constructor(child: ChildProcessWithoutNullStreams, endpoint: string, token: string) {
    this.#child = child;
    this.token = token;
    this.endpoint = endpoint;
    this.pid = child.pid ?? 0;
    this.ended = once(child, 'exit').then(
      ([code, signal]) => (signal as NodeJS.Signals | null) ?? (code as number),
    );
  }

  static async start(
    processes: Processes,
    options: {
      readonly config: string;
      readonly home: string;
      readonly tally: Tally;
      readonly isHostile: boolean;
    },
  ): Promise<Gateway> {
    const { config, home, tally, isHostile } = options;
    const token = await createToken(home, 'honest');
    const args = [builtMain(), 'serve', '--config', config, '--port', '0', '--home', home];
    const child = processes.spawn(args, {
      cwd: ROOT,
      env: {
        ASSAY_LIMITS_SESSIONS: isHostile ? SESSIONS_WITH_HOSTILE : SESSIONS,
        ASSAY_LIMITS_SESSION_IDLE_MS: SESSION_IDLE_MS,
        ASSAY_MCP_ACCESS: 'token',
      },
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said = (said + String(chunk)).slice(0, MAX_OUTPUT_LENGTH)));
    readLog(child, tally);
    const endpoint = await seek(START_WITHIN_MS, () => {
      if (child.exitCode !== null) throw new Error(`Assay ended at its start: ${said}`);
      return Promise.resolve(/endpoint +(http:\S+)\n/.exec(said)?.[1]);
    });
    if (endpoint === undefined) throw new Error('Assay did not say where it listens');
    return new Gateway(child, `${endpoint}/all`, token);
  }

  endpointOf(server: string): string {
    return this.endpointOfView(`servers/${server}`);
  }

  endpointOfView(path: string): string {
    return this.endpoint.replace(/all$/, path);
  }

  /** Uses what Assay loads on first use: the REST API and the validator of arguments. This is once per process. */
  async useAll(): Promise<void> {
    await this.#get('/tools?limit=1');
    const client = new HttpClient({ endpoint: this.endpointOfView('configuration'), token: this.token });
    const params = { name: 'build-toolset', arguments: { name: 'none', tools: [] } };
    await client.post({ era: 'modern', method: 'tools/call', params, id: client.nextId() });
    await client.close();
  }

  async health(): Promise<Health> {
    return JSON.parse(await this.#get('/health')) as Health;
  }

  /** The longest delay of the event loop since this was last read. */
  async maxLoopDelayMs(): Promise<number> {
    const seconds = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await this.#get('/metrics'))?.[1];
    // The metric contains the interval between two samples.
    return Math.max(0, Number(seconds) * 1_000 - METRICS_SAMPLE_MS);
  }

  /** Why not all of these servers are up; undefined if they are. */
  async untilUp(names: readonly string[], withinMs: number): Promise<string | undefined> {
    const isUp = await seek(withinMs, async () => {
      const { servers } = await this.health();
      const up = servers.filter(({ state }) => state === 'up').map(({ name }) => name);
      return names.every((name) => up.includes(name)) ? true : undefined;
    });
    return isUp === true ? undefined : `not all are up: ${JSON.stringify((await this.health()).servers)}`;
  }

  /** Sends SIGTERM; returns the exit code or signal. */
  async end(): Promise<number | NodeJS.Signals> {
    this.#child.kill('SIGTERM');
    const patience = new AbortController();
    const kill = sleep(END_WITHIN_MS, undefined, patience).then(
      () => signalGroup(this.#child, 'SIGKILL'),
      () => undefined,
    );
    const how = await this.ended;
    patience.abort();
    await kill;
    return how;
  }

  async #get(path: string): Promise<string> {
    const headers = { authorization: `Bearer ${this.token}` };
    const { statusCode, body } = await request(new URL(path, this.endpoint), { headers, reset: true });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${path} got status ${String(statusCode)}`);
    return text;
  }
}

/** A token with the scopes `mcp` and `read`. */
export async function createToken(home: string, name: string): Promise<string> {
  const args = [builtMain(), 'token', 'create', name, '--scopes', 'mcp,read', '--home', home];
  return (await promisify(execFile)(process.execPath, args)).stdout.trim();
}

/** Counts warnings. An error, or a line that is not a log line, is a defect; only the editor breaks the config. */
function readLog(child: ChildProcessWithoutNullStreams, tally: Tally): void {
  let unfinished = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    const lines = (unfinished + text).split('\n');
    unfinished = lines.pop() ?? '';
    for (const line of lines.filter((one) => one !== '')) readLine(line, tally);
  });
}

function readLine(line: string, tally: Tally): void {
  if (!line.startsWith('{')) {
    tally.object('stderr', line.slice(0, 500));
    return;
  }
  const { level, msg } = JSON.parse(line) as { level: number; msg: string };
  if (level < WARN_LEVEL) return;
  if (level >= ERROR_LEVEL && !msg.startsWith('config:')) tally.object('log', line.slice(0, 800));
  else tally.count('log', msg.replace(/".*?"/g, '"…"').slice(0, 80));
}
