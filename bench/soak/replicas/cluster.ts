// PostgreSQL, the servers, and several gateways behind a balancer.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { request } from 'undici';
import { startPostgresServer, type PostgresServer } from '../../../test/support/postgres-server.ts';
import { freePort, type Processes, type Running } from '../../processes.ts';
import type { Place } from '../../targets.ts';
import { seek } from '../soak-context.ts';
import { type Balancer, startNginx, startRoundRobin } from './balancer.ts';
import { Replica } from './replica.ts';
import { countExecutions } from './verdict.ts';

const SERVER_FILE = new URL('counting-server.ts', import.meta.url).pathname;
const LISTED_WITHIN_MS = 60_000;
const STOPPED_WITHIN_MS = 20_000;

export interface ClusterOptions {
  readonly processes: Processes;
  readonly place: Place;
  readonly replicaCount: number;
  readonly isNginx: boolean;
  readonly main: string;
  readonly onEndedAlone: (reason: string) => void;
}

export class Cluster {
  readonly replicas: readonly Replica[];
  readonly endpoint: string;
  readonly token: string;
  readonly #adminToken: string;
  readonly #postgres: PostgresServer;
  readonly #balancer: Balancer;
  readonly #web: Running;
  readonly #record: string;

  private constructor(parts: {
    readonly replicas: readonly Replica[];
    readonly tokens: { readonly mcp: string; readonly admin: string };
    readonly postgres: PostgresServer;
    readonly balancer: Balancer;
    readonly web: Running;
    readonly record: string;
  }) {
    this.replicas = parts.replicas;
    this.token = parts.tokens.mcp;
    this.#adminToken = parts.tokens.admin;
    this.#postgres = parts.postgres;
    this.#balancer = parts.balancer;
    this.endpoint = `${parts.balancer.origin}/mcp/all`;
    this.#web = parts.web;
    this.#record = parts.record;
  }

  static async open(options: ClusterOptions): Promise<Cluster> {
    const { processes, place, replicaCount, isNginx, main, onEndedAlone } = options;
    const { scratch } = place;
    const postgres = await startPostgresServer();
    const record = join(scratch, 'executions');
    writeFileSync(record, '');
    const web = place.node([SERVER_FILE, '--http', '--record', record]);
    const [, webPort] = await web.saying(/listening (\d+)/);
    const config = join(scratch, 'mcp.json');
    const pipe = { command: process.execPath, args: [SERVER_FILE, '--record', record], trust: true };
    const mcpServers = { pipe, web: { url: `http://127.0.0.1:${String(webPort)}/mcp`, trust: true } };
    writeFileSync(config, JSON.stringify({ mcpServers }));
    const env = {
      ASSAY_DATABASE_URL: postgres.url,
      ASSAY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      ASSAY_MCP_ACCESS: 'token',
    };
    const home = join(scratch, 'operator');
    mkdirSync(home, { recursive: true });
    const createToken = async (name: string, scopes: string): Promise<string> => {
      const args = [main, 'token', 'create', name, '--scopes', scopes, '--home', home];
      const run = promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
      return (await run).stdout.trim();
    };
    const tokens = { mcp: await createToken('soak', 'mcp,read'), admin: await createToken('boss', 'admin') };
    const replicas: Replica[] = [];
    for (let at = 1; at <= replicaCount; at += 1) {
      const own = { port: await freePort(), main };
      replicas.push(
        new Replica(`replica-${String(at)}`, own, { processes, scratch, config, env, onEndedAlone }),
      );
    }
    const ports = replicas.map(({ port }) => port);
    const balancer = await (isNginx ? startNginx(place, ports) : startRoundRobin(ports));
    return new Cluster({ replicas, tokens, postgres, balancer, web, record });
  }

  /** Starts all replicas, waits for their tools, and overrides that `merge` is idempotent. */
  async start(): Promise<void> {
    for (const replica of this.replicas) replica.start();
    for (const replica of this.replicas)
      if (!(await replica.untilReady())) throw new Error(`${replica.name} was not ready in time`);
    for (const server of ['pipe', 'web']) {
      const id = await this.#idOf(`${server}_merge`);
      await this.#ask('PATCH', `/tools/${id}`, { annotations: { idempotentHint: true } });
    }
  }

  executions(): ReadonlyMap<string, number> {
    return countExecutions(readFileSync(this.#record, 'utf8'));
  }

  /** The HTTP server gets another tool and announces it. */
  changeTools(): void {
    process.kill(this.#web.pid, 'SIGUSR2');
  }

  /** Fast shutdown: PostgreSQL closes all connections. */
  async stopPostgres(): Promise<void> {
    const pid = this.#postgres.pid();
    process.kill(pid, 'SIGINT');
    const isGone = await seek(STOPPED_WITHIN_MS, () => Promise.resolve(isAlive(pid) ? undefined : true));
    if (isGone !== true) throw new Error('PostgreSQL did not stop');
  }

  async startPostgres(): Promise<void> {
    await this.#postgres.start();
  }

  async close(): Promise<void> {
    this.#balancer.close();
    await Promise.all(this.replicas.map((replica) => replica.terminate()));
    await this.#postgres.stop();
  }

  async #idOf(publicName: string): Promise<string> {
    const id = await seek(LISTED_WITHIN_MS, async () => {
      const { tools } = (await this.#ask('GET', `/tools?text=${publicName}`)) as {
        readonly tools: readonly { readonly id: string }[];
      };
      return tools[0]?.id;
    });
    if (id === undefined) throw new Error(`${publicName} was never listed`);
    return id;
  }

  async #ask(method: 'GET' | 'PATCH', path: string, body?: object): Promise<unknown> {
    const port = String(this.replicas[0]?.port);
    const response = await request(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#adminToken}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      reset: true,
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${method} ${path} got ${text.slice(0, 500)}`);
    return JSON.parse(text);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
