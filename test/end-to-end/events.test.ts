import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EVENT_LINE } from '../../packages/gateway/src/api/event-line.ts';
import { endLater, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { send } from '../support/http.ts';
import { modernAsk, modernCall } from '../support/modern.ts';
import { startCollector } from '../support/otlp-collector.ts';
import { fixture, tempDir } from '../support/paths.ts';

type Line = Readonly<Record<string, unknown>>;

function readLines(text: string): readonly Line[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => 'event' in line);
}

const TOKEN = 'a-token-of-more-than-16-characters';
const authorization = `Bearer ${TOKEN}`;

describe('log.events', () => {
  it('writes requests, changes and decisions to a private file, as its schema says', async () => {
    const file = join(tempDir(), 'events.jsonl');
    const assay = await startGateway({
      servers: { plain: fixture('plain') },
      env: { ASSAY_TOKEN: TOKEN, ASSAY_LOG_EVENTS: file },
    });
    const origin = `http://127.0.0.1:${assay.port}`;
    const ask = (method: string, path: string, body?: string) =>
      send(`${origin}${path}`, {
        method,
        headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body }),
      });
    await ask('POST', '/tokens', '{"name":"ada","scopes":["mcp"]}');
    await send(`${origin}/mcp/all?key=hunter2-in-a-query`, { method: 'GET' });
    await ask('GET', '/%0a%1b[2J?token=hunter2');
    await modernAsk(`${origin}/mcp/all`, 'tools/call', {
      params: { name: 'plain_echo', arguments: {} },
      headers: { authorization },
    });
    const lines = await until('all three kinds are there', () => {
      const found = existsSync(file) ? readLines(readFileSync(file, 'utf8')) : [];
      const kinds = new Set(found.map(({ event }) => event));
      return kinds.size === 3 && found.some(({ path, method }) => path === '/mcp/all' && method === 'POST')
        ? found
        : undefined;
    });
    for (const line of lines) expect(EVENT_LINE.safeParse(line).error).toBeUndefined();
    expect(lines.find(({ event }) => event === 'change')).toMatchObject({
      action: 'token.create',
      target: { kind: 'token', name: 'ada' },
    });
    expect(lines.find(({ event }) => event === 'decision')).toMatchObject({
      tool: { publicName: 'plain_echo', server: 'plain' },
      outcome: 'ok',
    });
    const refused = lines.find(({ path, method }) => path === '/mcp/all' && method === 'GET');
    expect(refused).toMatchObject({ status: 401, client: '127.0.0.1' });
    expect(refused).not.toHaveProperty('subject');
    expect(lines.find(({ path }) => path === '/tokens')).toMatchObject({ status: 201, method: 'POST' });
    expect(lines.find(({ path }) => path === '/tokens')?.['subject']).toEqual(expect.any(String));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain(TOKEN);
  });

  it('reports a full disk once, and goes on', async () => {
    const assay = await startGateway({
      servers: { plain: fixture('plain') },
      env: { ASSAY_LOG_EVENTS: '/dev/full', ASSAY_FILE_CHECKS: 'off' },
    });
    await assay.settled();
    await modernCall(assay.url, 'plain_echo');
    await until('it is reported', () => assay.stderr().includes('events cannot be written') || undefined);
    await modernCall(assay.url, 'plain_echo');
    await assay.stop();
    expect(assay.stderr().split('events cannot be written').length).toBe(2);
  });

  it('sends events by OTLP, beside the log', async () => {
    const collector = await startCollector();
    endLater(() => collector.close());
    const assay = await startGateway({
      servers: { plain: fixture('plain') },
      env: {
        ASSAY_LOG_EVENTS: 'otlp',
        OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${collector.url}/v1/logs`,
        OTEL_BLRP_SCHEDULE_DELAY: '20',
      },
    });
    await assay.settled();
    await modernCall(assay.url, 'plain_echo');
    const names = () => new Set(collector.logs().map(({ eventName }) => eventName));
    await until('both kinds are there', () =>
      names().has('assay.access') && names().has('assay.decision') ? true : undefined,
    );
    expect(collector.exports.flatMap(({ faults }) => faults)).toEqual([]);
    expect(assay.stderr()).not.toContain('"event":"access"');
  });

  it.each([
    ['events.jsonl', 'it must be stderr, otlp or the absolute path of a file'],
    ['otlp', 'no logs are exported by OTLP'],
  ])('%s is refused with what to do', async (target, reason) => {
    const started = startGateway({ servers: {}, env: { ASSAY_LOG_EVENTS: target } });
    await expect(started).rejects.toThrow(reason);
  });
});
