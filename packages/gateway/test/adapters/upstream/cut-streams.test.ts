// Streams for a server's own messages that something on the way cuts again and again.
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import { createUpstreamConnectors } from '../../../src/adapters/upstream/connect.ts';
import { createReachRules } from '../../../src/core/reach-rules.ts';
import type { ServerSpec } from '../../../src/core/server-spec.ts';
import { endLater, until } from '../../../../../test/support/endings.ts';
import { parseJson, at } from '../../../../../test/support/json.ts';
import { bodyOf, serveWeb } from '../../../../../test/support/web-server.ts';
import { HandClock } from '../../gateway/hand-clock.ts';
import { SILENT } from '../../gateway/listed-server.ts';

interface CutServer {
  readonly url: string;
  /** The number of streams that were opened. */
  readonly opened: () => number;
  /** Cuts the open stream. */
  readonly cut: () => void;
}

/** A legacy server. `hasIds`: events of its stream have ids, and the stream can be resumed. */
async function serveCut({
  hasIds,
  beats = [],
}: {
  readonly hasIds: boolean;
  readonly beats?: readonly string[];
}): Promise<CutServer> {
  let opened = 0;
  let stream: ServerResponse | undefined;
  const port = await serveWeb((request, response) => {
    if (request.method === 'GET') {
      opened += 1;
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      const ping = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}';
      response.write(`retry: 1\n${hasIds ? `id: ${opened}\n` : ''}data: ${ping}\n\n`);
      void write(stream, beats);
      return;
    }
    void bodyOf(request).then((body) => {
      const message = parseJson(body);
      const id = at(message, 'id');
      if (id === undefined) return void response.writeHead(202).end();
      const result = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 's', version: '1' },
      };
      const isKnown = at(message, 'method') === 'initialize';
      const answer = isKnown ? { result } : { error: { code: -32601, message: 'Method not found' } };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    });
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    opened: () => opened,
    cut: () => void stream?.destroy(),
  };
}

/** One part after the other; then the stream stays open in silence. */
async function write(stream: ServerResponse, parts: readonly string[]): Promise<void> {
  for (const part of parts) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    stream.write(part);
  }
}

/** Opens a link; returns the number of reported gaps. */
async function connectTo(url: string, gapClock: HandClock, minSilenceMs?: number): Promise<() => number> {
  let missed = 0;
  const quiet = (): undefined => undefined;
  const { http } = createUpstreamConnectors({
    ...{ log: SILENT, recallEra: () => 'legacy', ownInfo: '{"name":"t","version":"1"}', gapClock },
    minSilenceMs,
    rules: createReachRules({ isOnNetwork: false, allowLoopback: true, allowPrivate: false }),
    launcher: PLAIN_LAUNCHER,
    confine: () => Promise.reject(new Error('nothing is confined here')),
  });
  const transport = { kind: 'http', flavour: 'streamable', url: new URL(url), headers: {} } as const;
  const spec: ServerSpec = { name: 's', transport, timeoutMs: 10_000, prefix: true, isolation: 'shared' };
  const events = { changed: quiet, updated: quiet, drained: quiet, ended: quiet };
  const signal = AbortSignal.timeout(30_000);
  const link = await http(spec, transport, {
    events: { ...events, missed: () => void (missed += 1) },
    signal,
    client: undefined,
  });
  if (!link.ok) throw new Error(link.error.code);
  endLater(() => link.value.close({ code: 'LINK_CLOSED' }));
  return () => missed;
}

/** The number of reports after each cut, and after one more minute, when there are `total`. */
async function cutEvery(
  seconds: number,
  { cuts, hasIds, total }: { readonly cuts: number; readonly hasIds: boolean; readonly total: number },
): Promise<readonly number[]> {
  const server = await serveCut({ hasIds });
  const clock = new HandClock();
  const missed = await connectTo(server.url, clock);
  await until('the stream is open', () => server.opened() === 1 || undefined);
  const counts: number[] = [];
  for (let cut = 1; cut <= cuts; cut += 1) {
    await clock.pass(seconds * 1_000);
    const before = missed();
    server.cut();
    await until('the stream is open again', () => server.opened() === cut + 1 || undefined);
    // The report of a gap that is due comes as soon as the stream is back.
    const isDue = !hasIds && (cut === 1 || seconds > 60);
    if (isDue) await until('the gap is reported', () => missed() === before + 1 || undefined);
    counts.push(missed());
  }
  await until('all gaps are reported', async () => {
    await clock.pass(60_000);
    return missed() >= total || undefined;
  });
  return [...counts, missed()];
}

it('a stream that is cut every 6 s is reported at once and then once a minute, and nothing is forgotten', async () => {
  const counts = await cutEvery(6, { cuts: 12, hasIds: false, total: 3 });
  // The first cut is after 6 s, so that the eleventh comes together with the second report.
  expect(counts.slice(0, 10)).toEqual(Array(10).fill(1));
  expect(counts.at(-1)).toBe(3);
});

it('a stream that is cut every 125 s is reported each time', async () => {
  expect(await cutEvery(125, { cuts: 3, hasIds: false, total: 3 })).toEqual([1, 2, 3, 3]);
});

it('a stream that is resumed by the ids of its events is never reported', async () => {
  expect(await cutEvery(6, { cuts: 3, hasIds: true, total: 0 })).toEqual([0, 0, 0, 0]);
});

it('a stream whose heartbeat stops is opened again, and any other may be silent', async () => {
  const BEATS = Array.from({ length: 20 }, (_, index) => `${index % 5 === 1 ? 'event: ping' : ':'}\n\n`);
  const note = 'data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n';
  const swallowed = await serveCut({ hasIds: false, beats: BEATS });
  const resumed = await serveCut({ hasIds: true, beats: BEATS });
  const silent = await serveCut({ hasIds: false });
  const chatty = await serveCut({ hasIds: false, beats: BEATS.map(() => note) });
  const [lost, nothing, ...others] = await Promise.all(
    [swallowed, resumed, silent, chatty].map(({ url }) => connectTo(url, new HandClock(), 50)),
  );
  await until('both are open again', () => (swallowed.opened() > 2 && resumed.opened() > 2) || undefined);
  expect([silent, chatty].map(({ opened }) => opened())).toEqual([1, 1]);
  // What a stream without ids lost cannot be known; one with ids goes on where it ended.
  expect([lost?.(), nothing?.(), ...others.map((missed) => missed())]).toEqual([1, 0, 0, 0]);
});
