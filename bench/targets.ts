// The targets: how each is started, and which processes count towards its cost.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { Era } from './messages.ts';
import { LADDER } from './peers/ladder-steps.ts';
import { PipeClient } from './pipe-client.ts';
import { freePort, type Processes, type Running, type SpawnOptions } from './processes.ts';
import { flawOfOneCall } from './session.ts';
import { prepareNginx } from './nginx.ts';

const START_WITHIN_MS = 20_000;

export const ROOT: string = fileURLToPath(new URL('..', import.meta.url));

export interface Started {
  readonly endpoint: string;
  /** The proxy process; absent if there is none. */
  readonly proxy: Running | undefined;
  /** Processes on the path that are not children of the proxy. */
  readonly behind: readonly Running[];
}

export interface Target {
  readonly name: string;
  readonly about: string;
  readonly era: Era;
  /** Measured only with the small payload: the target is about the catalog size, not about bytes. */
  readonly onlySmall?: true;
  /** Measured only if `--before` names another build of Assay. */
  readonly ofBefore?: true;
  /** Measured only if `--only` names it. */
  readonly onlyNamed?: true;
  readonly start: (place: Place) => Promise<Started>;
}

export const TARGETS: readonly Target[] = [
  {
    name: 'direct',
    about: 'no proxy: the echo server over HTTP',
    era: 'modern',
    start: async (place) => {
      const echo = await place.echo(10);
      return { endpoint: echo.endpoint, proxy: undefined, behind: [echo.running] };
    },
  },
  {
    name: 'ceiling',
    about: 'plain node:http reverse proxy with pool.stream',
    era: 'modern',
    start: async (place) => await behindPeer(place, 'ceiling.ts'),
  },
  {
    name: 'nginx',
    about: "Debian's nginx, one worker: what any proxy costs here",
    era: 'modern',
    onlyNamed: true,
    start: startNginx,
  },
  ...LADDER.map(({ name, about }): Target => ({
    name: `ladder-${name}`,
    about: `the plain proxy, ${about}`,
    era: 'modern',
    onlyNamed: true,
    start: async (place) => await behindPeer(place, 'ladder.ts', name),
  })),
  {
    name: 'assay-http-unrecorded',
    about: 'Assay to HTTP, 10 tools, without the record of calls',
    era: 'modern',
    onlyNamed: true,
    start: async (place) => await assayToHttp(place, 10, { name: 'unrecorded', isRecorded: false }),
  },
  {
    name: 'assay-http',
    about: 'Assay to HTTP, 10 tools',
    era: 'modern',
    start: async (place) => await assayToHttp(place, 10),
  },
  {
    name: 'assay-http-10k',
    about: 'Assay to HTTP, 10,000 tools',
    era: 'modern',
    onlySmall: true,
    start: async (place) => await assayToHttp(place, 10_000),
  },
  {
    name: 'assay-stdio',
    about: 'Assay to stdio',
    era: 'modern',
    start: async (place) => await assayToStdio(place, 'assay-stdio'),
  },
  {
    name: 'before-http',
    about: 'the build of --before to HTTP, 10 tools',
    era: 'modern',
    ofBefore: true,
    start: async (place) => await assayToHttp(place, 10, { name: 'before', main: place.mainBefore }),
  },
  {
    name: 'before-stdio',
    about: 'the build of --before to stdio',
    era: 'modern',
    ofBefore: true,
    start: async (place) => await assayToStdio(place, 'before-stdio', place.mainBefore),
  },
  {
    name: 'mcp-proxy',
    about: "npm's mcp-proxy to the same stdio server, the same messages as Assay",
    era: 'modern',
    start: startMcpProxy,
  },
  {
    name: 'mcp-proxy-session',
    about: "npm's mcp-proxy to the same stdio server, one session of 2025-11-25",
    era: 'legacy',
    start: startMcpProxy,
  },
  {
    name: 'sdk-proxy',
    about: "the official SDK's server and client to HTTP",
    era: 'modern',
    start: async (place) => await behindPeer(place, 'sdk-proxy.ts'),
  },
];

/** Starts the target and waits until it echoes; rejects with the reason if it does not. */
export async function startTarget(target: Target, place: Place): Promise<Started> {
  const started = await target.start(place);
  await untilEchoes(started, target.era, 'echo');
  return started;
}

/** Where targets are started: shared echo servers, a scratch folder, and the list of all processes. */
export class Place {
  readonly scratch: string;
  /** Program of another build of Assay, to compare with this one. */
  readonly mainBefore: string | undefined;
  readonly #processes: Processes;
  readonly #echoes = new Map<number, Promise<{ endpoint: string; running: Running }>>();

  constructor(processes: Processes, scratch: string, mainBefore?: string) {
    this.#processes = processes;
    this.scratch = scratch;
    this.mainBefore = mainBefore;
  }

  async echo(toolCount: number): Promise<{ endpoint: string; running: Running }> {
    const known = this.#echoes.get(toolCount);
    if (known !== undefined) return await known;
    const echo = this.peer('echo-http.ts', ['--tools', String(toolCount)]);
    this.#echoes.set(toolCount, echo);
    return await echo;
  }

  /** Starts a program in `peers/`, which prints its port. */
  async peer(file: string, args: readonly string[]): Promise<{ endpoint: string; running: Running }> {
    const running = this.#processes.start([peerFile(file), ...args]);
    const [, port] = await running.saying(/listening (\d+)/);
    return { endpoint: `http://127.0.0.1:${String(port)}/mcp`, running };
  }

  node(args: readonly string[], cwd?: string): Running {
    return this.#processes.start(args, { cwd });
  }

  /** Another program. */
  command(command: string, args: readonly string[]): Running {
    return this.#processes.start(args, { command });
  }

  /** A client on the pipes of a new process. */
  pipe(args: readonly string[]): PipeClient {
    return new PipeClient(this.#processes.spawn(args, { cwd: ROOT }));
  }

  /** Assay as built, with a config of the bench (an object) or of the repository (a file). */
  async assay(
    name: string,
    config: object | string,
    {
      main = builtMain(),
      env,
    }: { readonly main?: string | undefined; readonly env?: SpawnOptions['env'] } = {},
  ): Promise<{ endpoint: string; running: Running }> {
    const home = join(this.scratch, name);
    mkdirSync(home, { recursive: true });
    let file = config;
    if (typeof file !== 'string') {
      file = join(home, 'mcp.json');
      writeFileSync(file, JSON.stringify(config));
    }
    const port = String(await freePort());
    const serve = ['serve', '--config', file, '--port', port, '--home', home];
    const running = this.#processes.start([main, ...serve], { cwd: ROOT, env });
    const origin = `http://127.0.0.1:${port}`;
    await waitFor(running, async () => {
      const { statusCode, body } = await request(`${origin}/health`);
      await body.dump();
      return statusCode === 200 ? undefined : `/health got status ${String(statusCode)}`;
    });
    return { endpoint: `${origin}/mcp/all`, running };
  }
}

/** Path to Assay's built program. */
export function builtMain(): string {
  const main = join(ROOT, 'packages', 'gateway', 'dist', 'main.js');
  if (!existsSync(main)) throw new Error('there is no dist/main.js; `npm run build` makes it');
  return main;
}

export function echoCommand(): { command: string; args: string[] } {
  return { command: process.execPath, args: [peerFile('echo-stdio.ts')] };
}

/** Waits until a call of this tool returns the right answer. */
export async function untilEchoes(started: Started, era: Era, tool: string): Promise<void> {
  const running = started.proxy ?? started.behind[0];
  if (running === undefined) throw new Error('a target without a process');
  await waitFor(running, () => flawOfOneCall(started.endpoint, era, tool));
}

/** Polls until nothing is missing; rejects after a time, or when the process has ended. */
export async function waitFor(
  running: Running,
  whatIsMissing: () => Promise<string | undefined>,
): Promise<void> {
  const untilMs = performance.now() + START_WITHIN_MS;
  for (;;) {
    const missing = await whatIsMissing().catch((error: unknown) => String(error));
    if (missing === undefined) return;
    const ending = running.ending();
    if (ending !== undefined) throw new Error(ending);
    if (performance.now() > untilMs) throw new Error(`not up in time: ${missing}`);
    await sleep(100);
  }
}

export function peerFile(file: string): string {
  return fileURLToPath(new URL(`peers/${file}`, import.meta.url));
}

async function behindPeer(place: Place, file: string, ...args: readonly string[]): Promise<Started> {
  const echo = await place.echo(10);
  const proxy = await place.peer(file, [...args, echo.endpoint]);
  return { endpoint: proxy.endpoint, proxy: proxy.running, behind: [echo.running] };
}

interface AssayOptions {
  /** Name of its home folder. */
  readonly name?: string;
  readonly main?: string | undefined;
  readonly isRecorded?: boolean;
}

async function assayToHttp(
  place: Place,
  toolCount: number,
  { name = 'assay', main, isRecorded = true }: AssayOptions = {},
): Promise<Started> {
  const echo = await place.echo(toolCount);
  const config = {
    mcpServers: { echo: { url: echo.endpoint, prefix: false } },
    // Other builds may not have this setting.
    ...(!isRecorded && { settings: { 'activity.calls': false } }),
  };
  const assay = await place.assay(`${name}-${String(toolCount)}`, config, { main });
  return { endpoint: assay.endpoint, proxy: assay.running, behind: [echo.running] };
}

async function assayToStdio(place: Place, home: string, main?: string): Promise<Started> {
  const config = { mcpServers: { echo: { ...echoCommand(), prefix: false } } };
  const assay = await place.assay(home, config, { main });
  return { endpoint: assay.endpoint, proxy: assay.running, behind: [] };
}

/** Runs as a single process, like the other targets. */
async function startNginx(place: Place): Promise<Started> {
  const echo = await place.echo(10);
  const port = String(await freePort());
  const folder = join(place.scratch, 'nginx');
  const { config, start } = prepareNginx(folder);
  writeFileSync(
    config,
    `${start}
  client_max_body_size 0;
  client_body_buffer_size 1m;
  keepalive_requests 10000000;
  upstream echo { server ${new URL(echo.endpoint).host}; keepalive 64; keepalive_requests 10000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://echo;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffers 64 16k;
    }
  }
}
`,
  );
  const running = place.command('nginx', ['-e', 'stderr', '-p', folder, '-c', config]);
  return { endpoint: `http://127.0.0.1:${port}/mcp`, proxy: running, behind: [echo.running] };
}

async function startMcpProxy(place: Place): Promise<Started> {
  const port = String(await freePort());
  const bin = join(ROOT, 'node_modules', 'mcp-proxy', 'dist', 'bin', 'mcp-proxy.mjs');
  const { command, args } = echoCommand();
  const options = ['--host', '127.0.0.1', '--port', port, '--server', 'stream'];
  const running = place.node([bin, ...options, '--', command, ...args]);
  return { endpoint: `http://127.0.0.1:${port}/mcp`, proxy: running, behind: [] };
}
