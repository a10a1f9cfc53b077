import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { READINESS } from '../../packages/gateway/src/api/status.ts';
import { formatRefusal } from '../../packages/gateway/src/core/sentences.ts';
import { cleanEnv } from '../support/assay.ts';
import { endLater, until } from '../support/endings.ts';
import { program, startGateway } from '../support/gateway.ts';
import { send } from '../support/http.ts';
import { at } from '../support/json.ts';
import { tempDir, writeConfig } from '../support/paths.ts';
import { mortalPostgres } from '../support/postgres.ts';

interface Port {
  readonly port: number;
}

async function probe({ port }: Port, path: string, method = 'GET'): Promise<readonly [number, string]> {
  const { status, text } = await send(`http://127.0.0.1:${port}${path}`, { method });
  return [status, text];
}

async function ready(place: Port): Promise<string> {
  const { status, text } = await send(`http://127.0.0.1:${place.port}/ready`, { method: 'GET' });
  const body = READINESS.parse(JSON.parse(text));
  return [status, body.status, ...body.reasons].join(' ');
}

const READY = '{"status":"ready","reasons":[]}';

describe('the probes', () => {
  it('need no token, and accept GET and HEAD only', async () => {
    const assay = await startGateway({ env: { ASSAY_TOKEN: 'x'.repeat(40) } });
    expect(await probe(assay, '/live')).toEqual([200, '{"status":"live"}']);
    expect(await probe(assay, '/ready')).toEqual([200, READY]);
    expect(await probe(assay, '/ready', 'HEAD')).toEqual([200, '']);
    expect(await probe(assay, '/live', 'HEAD')).toEqual([200, '']);
    expect((await probe(assay, '/ready', 'POST'))[0]).toBe(405);
    expect((await probe(assay, '/ready/more'))[0]).toBe(404);
    const foreign = await send(`http://127.0.0.1:${assay.port}/ready`, {
      method: 'GET',
      headers: { host: 'evil.example' },
    });
    expect([foreign.status, foreign.text.includes('reasons')]).toEqual([403, false]);
  });

  it('say that the config file is invalid, without its text', async () => {
    const config = writeConfig({});
    const assay = await startGateway({ config });
    writeFileSync(config, '{ "mcpServers": s3cr3t');
    await until('it was read', async () =>
      (await ready(assay)) === '200 degraded config_invalid' ? true : undefined,
    );
  });

  it('take a gateway that stops out of a balancer while it still serves', async () => {
    const assay = await startGateway({ settings: { settings: { 'limits.drainDelayMs': 8_000 } } });
    void assay.stop();
    await until('it is not ready', async () =>
      (await ready(assay)) === '503 unavailable stopping' ? true : undefined,
    );
    expect((await probe(assay, '/live'))[0]).toBe(200);
    expect(at(await assay.health(), 'status')).toBe('stopping');
    const answer = await send(assay.url, {
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
      }),
    });
    expect(answer.text).toContain('"result"');
  });

  it('and /health say within seconds that PostgreSQL is stopped, and cost it no query', async () => {
    const postgres = await mortalPostgres();
    const env = { ASSAY_DATABASE_URL: await postgres.newDatabase() };
    const assay = await startGateway({ env });
    await assay.settled();
    expect(await ready(assay)).toBe('200 ready');
    await postgres.crash();
    await until('it is told', async () =>
      (await ready(assay)) === '200 degraded store_unavailable' ? true : undefined,
    );
    expect(at(await assay.health(), 'status')).toBe('degraded');
    const answers = await Promise.all(Array.from({ length: 500 }, () => ready(assay)));
    expect(new Set(answers)).toEqual(new Set(['200 degraded store_unavailable']));
    await postgres.restart();
    await until('it is back', async () => ((await ready(assay)) === '200 ready' ? true : undefined));
    expect(at(await assay.health(), 'status')).toBe('ok');
  });
});

describe('a start', () => {
  it('waits for PostgreSQL, answers the probes meanwhile, and logs each cause once', async () => {
    const postgres = await mortalPostgres();
    const databaseUrl = await postgres.newDatabase();
    await postgres.crash();
    const port = await freePort();
    let log = '';
    const opening = open({ databaseUrl, port, writeLog: (line) => (log += line) });
    await until('it listens', async () => (await ready({ port }).catch(() => undefined)) ?? undefined);
    expect(await ready({ port })).toBe('503 unavailable starting store_unavailable');
    expect((await probe({ port }, '/live'))[0]).toBe(200);
    expect(await probe({ port }, '/health')).toEqual([200, '{"status":"starting"}']);
    const [status, text] = await probe({ port }, '/tools');
    expect([status, text]).toEqual([503, expect.stringContaining('this gateway is starting')]);
    const headers = {
      accept: 'text/event-stream',
      'mcp-session-id': 'x',
      'mcp-protocol-version': '2025-11-25',
      'last-event-id': '0123abcd0123abcd-1-0',
    };
    const stream = await send(`http://127.0.0.1:${port}/mcp/all`, { method: 'GET', headers });
    expect([stream.status, stream.headers.connection, stream.text]).toEqual([
      ...[
        200,
        'close',
        ': not available here now; ask again\n\nid: 0123abcd0123abcd-1-0\nretry: 1000\ndata: \n\n',
      ],
    ]);
    const other = await send(`http://127.0.0.1:${port}/rest`, { method: 'GET', headers });
    expect(other.status).toBe(503);
    await postgres.restart();
    const opened = await opening;
    if (!opened.ok) throw new Error(formatRefusal(opened.error));
    endLater(() => opened.value.close());
    expect(await ready({ port })).toBe('200 ready');
    expect(log.match(/cannot be opened yet/g)?.length).toBeLessThanOrEqual(3);
    expect(log).toContain('the store is open');
  });

  it('that waits ends at once when it is asked to stop', async () => {
    const port = await freePort();
    const stopped = Promise.withResolvers<undefined>();
    const untilStopped = (): Promise<undefined> => stopped.promise;
    const opening = open({ databaseUrl: 'postgres://a:b@127.0.0.1:1/c', port, untilStopped });
    await until('it listens', async () => (await ready({ port }).catch(() => undefined)) ?? undefined);
    stopped.resolve(undefined);
    expect(await opening).toEqual({ ok: false, error: { code: 'SHUTTING_DOWN' } });
    await expect(ready({ port })).rejects.toThrow();
  });

  it('does not wait for a database that refuses its user or does not exist', async () => {
    const postgres = await mortalPostgres();
    const url = await postgres.newDatabase();
    const denied = url.replace('not-to-be-shown', 'wrong');
    const absent = url.replace(/assay_test_\w+$/, 'absent');
    for (const [databaseUrl, reason] of [
      [denied, /does not accept the user or the password/],
      [absent, /the database does not exist/],
    ] as const)
      expect(await open({ databaseUrl, port: await freePort() })).toEqual({
        ok: false,
        error: { code: 'STORE_UNAVAILABLE', reason: expect.stringMatching(reason), isLasting: true },
      });
  });
});

interface Opening {
  readonly databaseUrl: string;
  readonly port: number;
  readonly writeLog?: (line: string) => void;
  readonly untilStopped?: () => Promise<void>;
}

async function open({
  databaseUrl,
  ...given
}: Opening): ReturnType<Awaited<ReturnType<typeof program>>['openServe']> {
  const environment = cleanEnv({ ASSAY_DATABASE_URL: databaseUrl });
  const options = { writeLog: () => undefined, host: '127.0.0.1', home: tempDir(), config: writeConfig({}) };
  return (await program()).openServe({ ...options, environment, ...given });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
