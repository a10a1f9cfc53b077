import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Agent, fetch as fetchWith } from 'undici';
import { describe, expect, it } from 'vitest';
import { freePort, startAssay, type Assay } from '../support/assay.ts';
import { endLater, killLater, until } from '../support/endings.ts';
import { at } from '../support/json.ts';
import { modernBody, modernHeaders } from '../support/modern.ts';
import { ROOT, tempDir } from '../support/paths.ts';
import { newDatabase } from '../support/postgres.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../fixtures/certificate.ts';

/** Debian has daemons in /usr/sbin, which is not in every user's PATH. */
const PATH = `${process.env['PATH']}:/usr/sbin`;
const TOKEN = randomBytes(24).toString('hex');
const DOMAIN = 'assay.example.com';
const ECHO = { command: process.execPath, args: [join(ROOT, 'test', 'deploy', 'echo-server.mjs')] };

interface Balancer {
  readonly port: number;
  /** The certificate that clients trust. */
  readonly ca: () => string;
  readonly isForName: boolean;
}

const BALANCERS: Readonly<Record<string, (replicas: readonly number[], port: number) => Promise<Balancer>>> =
  {
    nginx: startNginx,
    caddy: startCaddy,
  };

// `npm run setup` does not install them: their packages start a web server. On Debian: apt-get install nginx caddy
describe.each(Object.keys(BALANCERS))('%s with its file in deploy/', (name) => {
  it.skipIf(!isInstalled(name))(
    'serves clients over TLS from two replicas, streams unbuffered, and loses no call in a rolling restart',
    { timeout: 180_000 },
    () => tryBalancer(name),
  );
});

async function tryBalancer(name: string): Promise<void> {
  const [first, second, port] = [await freePort(), await freePort(), await freePort()];
  const env = {
    ASSAY_DATABASE_URL: await newDatabase(),
    ASSAY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    ASSAY_TOKEN: TOKEN,
    ASSAY_LIMITS_DRAIN_DELAY_MS: '2500',
    ASSAY_AUTH_PUBLIC_URL: `https://${DOMAIN}:${port}`,
  };
  const start = async (own: number): Promise<Assay> => {
    const assay = await startAssay({ servers: { plain: ECHO }, env, args: ['--port', String(own)] });
    // Without a token, health has no more than the status.
    await until('the replica is up', async () =>
      at(await assay.health(), 'status') === 'ok' ? true : undefined,
    );
    return assay;
  };
  const replicas = [await start(first), await start(second)];
  const balancer = await BALANCERS[name]!([first, second], port);
  const way = openWay(balancer);
  const client = await connectThrough(way);

  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toContain('plain_echo');
  const pids = new Set<string>();
  for (let n = 0; n < 8; n++) pids.add(await callEcho(client));
  expect(pids.size).toBe(2);

  await expectStream(way);
  expect(await statusOf(way, '/mcp', { authorization: 'Bearer wrong-token-0123456789' })).toBe(401);
  expect(await statusOf(way, '/metrics', { authorization: `Bearer ${TOKEN}` })).toBe(404);

  const work = callUntilStopped(client);
  for (const replica of replicas) {
    expect(await replica.stop()).toBe(0);
    const before = work.pids.size;
    await start(replica.port);
    await until(
      () => `the new replica gets calls; lost: ${work.lost.join('\n')}`,
      () => (work.pids.size > before ? true : undefined),
      20_000,
    );
  }
  await work.stop();
  expect(work.lost).toEqual([]);
}

function isInstalled(command: string): boolean {
  return (
    spawnSync('sh', ['-c', 'command -v "$1"', 'sh', command], { env: { ...process.env, PATH } }).status === 0
  );
}

/** `deploy/nginx/assay.conf` with its marked values replaced, in a configuration of its own. */
async function startNginx(replicas: readonly number[], port: number): Promise<Balancer> {
  const folder = tempDir();
  writeFileSync(join(folder, 'tls.crt'), CERTIFICATE);
  writeFileSync(join(folder, 'tls.key'), CERTIFICATE_KEY, { mode: 0o600 });
  const site = replaceAll(readFileSync(join(ROOT, 'deploy', 'nginx', 'assay.conf'), 'utf8'), [
    ['127.0.0.1:4444', `127.0.0.1:${replicas[0]}`],
    ['127.0.0.1:4445', `127.0.0.1:${replicas[1]}`],
    ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
    ['listen 80', `listen 127.0.0.1:${await freePort()}`],
    ['/etc/nginx/tls/assay.crt', join(folder, 'tls.crt')],
    ['/etc/nginx/tls/assay.key', join(folder, 'tls.key')],
  ]);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; worker_processes 2; pid ${folder}/nginx.pid;
error_log stderr warn; events {}
http { access_log off; ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
${site} }`,
  );
  await startProgram('nginx', ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], { port });
  return { port, ca: () => CERTIFICATE, isForName: false };
}

/** Each text must be there. */
function replaceAll(text: string, pairs: readonly (readonly [string, string])[]): string {
  return pairs.reduce((before, [from, to]) => {
    if (!before.includes(from)) throw new Error(`The file no longer contains ${from}.`);
    return before.replaceAll(from, to);
  }, text);
}

/** `deploy/caddy/Caddyfile` as it is, with its variables. */
async function startCaddy(replicas: readonly number[], port: number): Promise<Balancer> {
  const folder = tempDir();
  const env = {
    HOME: folder,
    XDG_DATA_HOME: join(folder, 'data'),
    XDG_CONFIG_HOME: join(folder, 'config'),
    ASSAY_DOMAIN: DOMAIN,
    ASSAY_TLS: 'internal',
    ASSAY_UPSTREAMS: replicas.map((one) => `127.0.0.1:${one}`).join(' '),
    ASSAY_HTTPS_PORT: String(port),
    ASSAY_HTTP_PORT: String(await freePort()),
  };
  const file = join(ROOT, 'deploy', 'caddy', 'Caddyfile');
  await startProgram('caddy', ['run', '--adapter', 'caddyfile', '--config', file], { port, env });
  const root = join(folder, 'data', 'caddy', 'pki', 'authorities', 'local', 'root.crt');
  await until('Caddy has its authority', () => (existsSync(root) ? true : undefined));
  return { port, ca: () => readFileSync(root, 'utf8'), isForName: true };
}

async function startProgram(
  command: string,
  args: readonly string[],
  { port, env = {} }: { readonly port: number; readonly env?: Readonly<Record<string, string>> },
): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH, ...env } });
  killLater(child.pid);
  let stderr = '';
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString('utf8')));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  endLater(() => {
    child.kill('SIGTERM');
    return ended;
  });
  await until(
    () => `${command} accepts TLS; ${stderr}`,
    () => acceptsTls(port),
    20_000,
  );
}

function acceptsTls(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, servername: DOMAIN, rejectUnauthorized: false };
    const socket = connectTls(options, () => {
      socket.destroy();
      resolve(true);
    }).once('error', () => resolve(undefined));
  });
}

/** How clients reach the balancer by its name, as with a DNS entry. */
interface Way {
  readonly url: string;
  readonly fetch: typeof fetch;
}

function openWay({ port, ca, isForName }: Balancer): Way {
  const agent = new Agent({
    connect: {
      ca: ca(),
      // The certificate of the fixtures is one for localhost; it must sign itself all the same.
      ...(isForName ? {} : { checkServerIdentity: () => undefined }),
      lookup: (_name, options, done) =>
        options.all === true ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
    },
  });
  endLater(() => agent.destroy());
  const through = (url: string | URL, init?: object): unknown =>
    fetchWith(url, { ...init, dispatcher: agent });
  return { url: `https://${DOMAIN}:${port}`, fetch: through as typeof fetch };
}

async function connectThrough({ url, fetch: through }: Way): Promise<Client> {
  const client = new Client(
    { name: 'deployed', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  endLater(() => client.close());
  const headers = { authorization: `Bearer ${TOKEN}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp/all`), {
      fetch: through,
      requestInit: { headers },
    }),
  );
  return client;
}

/** Returns the process of the server that answered. */
async function callEcho(client: Client): Promise<string> {
  const { content } = await client.callTool({ name: 'plain_echo', arguments: { text: 'hello' } });
  const text = JSON.stringify(content);
  const pid = /hello from uid \d+, pid (\d+)/.exec(text)?.[1];
  if (pid === undefined) throw new Error(text);
  return pid;
}

/** The first event of a stream that stays open arrives; a buffer would keep it until the stream ends. */
async function expectStream({ url, fetch: through }: Way): Promise<void> {
  const params = { notifications: { toolsListChanged: true } };
  const ending = new AbortController();
  const response = await through(`${url}/mcp/all`, {
    method: 'POST',
    headers: { ...modernHeaders('subscriptions/listen'), authorization: `Bearer ${TOKEN}` } as Record<
      string,
      string
    >,
    body: modernBody('subscriptions/listen', { params }),
    signal: ending.signal,
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  const reader = response.body!.getReader();
  const { value } = (await reader.read()) as { readonly value?: Uint8Array };
  expect(new TextDecoder().decode(value)).toContain('subscriptions/acknowledged');
  ending.abort();
}

async function statusOf(
  { url, fetch: through }: Way,
  path: string,
  headers: Record<string, string>,
): Promise<number> {
  const response = await through(`${url}${path}`, { headers });
  await response.arrayBuffer();
  return response.status;
}

interface Work {
  /** Of the server processes that answered. */
  readonly pids: ReadonlySet<string>;
  readonly lost: readonly string[];
  readonly stop: () => Promise<unknown>;
}

/** Four callers that each call again once they have an answer. */
function callUntilStopped(client: Client): Work {
  const pids = new Set<string>();
  let isStopped = false;
  const lost: string[] = [];
  const caller = async (): Promise<void> => {
    while (!isStopped && lost.length < 10)
      await callEcho(client).then(
        (pid) => pids.add(pid),
        (error: unknown) => lost.push(String(error)),
      );
  };
  const callers = [caller(), caller(), caller(), caller()];
  return {
    pids,
    lost,
    stop: () => {
      isStopped = true;
      return Promise.all(callers);
    },
  };
}
