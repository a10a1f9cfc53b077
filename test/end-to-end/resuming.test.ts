import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomUUID } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import {
  eventText,
  startCutting,
  streamed,
  type Connection,
  type Cutting,
  type CuttingOptions,
} from '../fixtures/http-cutting.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater, sleep, until } from '../support/endings.ts';
import { messagesIn, startRequest } from '../support/http.ts';
import { at, type Json, type JsonObject } from '../support/json.ts';
import { openSession, textOf } from '../support/legacy.ts';
import { startShared, type SharedAssay } from '../support/shared-assay.ts';
import { modernBody, modernHeaders, modernSend } from '../support/modern.ts';

/** A short retry delay, for tests that do not measure how long Assay waits. */
const SOON = 'retry: 10\n\n';

let shared: Promise<SharedAssay> | undefined;
let servers = 0;

/** Starts a server and adds it to the shared Assay; returns the endpoint that lists only this server. */
async function start(
  options: CuttingOptions,
  timeoutMs = 20_000,
): Promise<{ server: Cutting; assay: Pick<Gateway, 'url' | 'stderr'> }> {
  const server = await startCutting(options);
  endLater(() => server.close());
  const entry = { type: 'http', url: server.url, timeoutMs, isolation: 'shared' };
  return { server, assay: await addServer(entry) };
}

async function addServer(entry: JsonObject): Promise<Pick<Gateway, 'url' | 'stderr'>> {
  const { assay, add } = await (shared ??= startShared({ env: { ASSAY_LOG_LEVEL: 'debug' } }));
  const name = `web${(servers += 1)}`;
  await add({ [name]: entry });
  return { url: assay.url.replace(/all$/, `servers/${name}`), stderr: () => assay.stderr() };
}

const listsOf = (server: Cutting): number => server.seen.filter((one) => one.method === 'tools/list').length;
const callsOf = (server: Cutting): number => server.seen.filter((one) => one.method === 'tools/call').length;

/** Calls the tool; returns all messages received, each reduced to one value. */
async function call(assay: Pick<Gateway, 'url'>, args: Json = {}): Promise<readonly unknown[]> {
  const answer = await modernSend(assay.url, 'tools/call', {
    params: { name: 'slow', arguments: args },
    meta: { progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'debug' },
  });
  const messages = answer.type === 'application/json' ? [answer.json()] : messagesIn(answer.text);
  return messages.map(
    (one) =>
      at(one, 'params', 'progress') ??
      at(one, 'params', 'data') ??
      at(one, 'error', 'data', 'code') ??
      at(one, 'result', 'content', 0, 'text'),
  );
}

const WHOLE = [1, 'between', 2, 'answer to {}'];

const play =
  (each: (connection: Connection) => readonly [text: string, ending: 'end' | 'cut' | 'open']) =>
  (connection: Connection): void => {
    const [text, ending] = each(connection);
    streamed(connection.response, text, ending);
  };

/** The first `count` remaining events. */
const some = ({ rest }: Connection, count: number): string => rest.slice(0, count).map(eventText).join('');

describe.concurrent('a call stream that a legacy server ends too early', () => {
  for (const ending of ['end', 'cut'] as const)
    it.each([1, 2, 3, 4])(`is resumed without loss (${ending} after event %i)`, async (count) => {
      const { server, assay } = await start({
        play: play((one) => (one.nth === 0 ? [SOON + some(one, count), ending] : [some(one, 9), 'end'])),
      });
      expect(await call(assay)).toEqual(WHOLE);
      expect(callsOf(server)).toBe(1);
      const ids = server.resumed.filter((id) => id !== undefined);
      expect(ids).toEqual([expect.stringMatching(new RegExp(`-${count - 1}$`))]);
    });

  it('is resumed until the response arrives, even if it breaks at each event and within each', async () => {
    const { server, assay } = await start({
      play: play((one) => {
        const next = one.rest[1];
        return [SOON + some(one, 1) + (next === undefined ? '' : eventText(next).slice(0, 20)), 'cut'];
      }),
    });
    expect(await call(assay)).toEqual(WHOLE);
    const tails = server.resumed.filter((id) => id !== undefined).map((id) => id.slice(-1));
    expect([callsOf(server), tails]).toEqual([1, ['0', '1', '2', '3']]);
  });

  it('delivers each event once, even if the server repeats earlier ones', async () => {
    const { assay } = await start({
      play: play((one) => {
        const all = one.nth === 0 ? one.rest : undefined;
        before = all ?? before;
        return one.nth === 0 ? [SOON + some(one, 3), 'cut'] : [before.map(eventText).join(''), 'end'];
      }),
    });
    let before: Connection['rest'] = [];
    expect(await call(assay)).toEqual(WHOLE);
  });

  it('is resumed even if the server is down for a moment', async () => {
    const { server, assay } = await start({
      play: (one) => {
        if (one.nth === 0) streamed(one.response, SOON + some(one, 2), 'cut');
        else if (one.nth === 1) one.response.writeHead(503).end();
        else if (one.nth === 2) streamed(one.response, '', 'cut');
        else streamed(one.response, some(one, 9), 'end');
      },
    });
    expect(await call(assay)).toEqual(WHOLE);
    expect(callsOf(server)).toBe(1);
  });

  it('is resumed for each of several concurrent calls', async () => {
    const { server, assay } = await start({
      play: play((one) => (one.nth < 3 ? [SOON + some(one, 1), 'cut'] : [some(one, 9), 'end'])),
    });
    const calls = Array.from({ length: 20 }, async (_, n) => call(assay, { n }));
    expect(await Promise.all(calls)).toEqual(calls.map((_, n) => [1, 'between', 2, `answer to {"n":${n}}`]));
    expect(callsOf(server)).toBe(20);
  });

  it('is resumed after the delay that the server asks for', async () => {
    const times: number[] = [];
    const { assay } = await start({
      play: play((one) => {
        times.push(Date.now());
        return one.nth === 0 ? [`retry: 700\n${some(one, 1)}`, 'end'] : [some(one, 9), 'end'];
      }),
    });
    expect(await call(assay)).toEqual(WHOLE);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(690);
  });
});

describe.concurrent('a call on a broken stream fails', () => {
  const first = (one: Connection): boolean => {
    if (one.nth === 0) streamed(one.response, SOON + some(one, 2), 'cut');
    return one.nth === 0;
  };

  it('at once if no event had an id', async () => {
    const { server, assay } = await start({
      play: play(({ rest }) => [
        rest
          .slice(0, 2)
          .map(({ data }) => eventText({ id: '', data }))
          .join(''),
        'cut',
      ]),
    });
    expect(await call(assay)).toEqual([1, 'SERVER_ENDED']);
    expect([callsOf(server), server.resumed]).toEqual([1, [undefined]]);
  });

  it('if the event id was reset, or cannot be sent', async () => {
    for (const id of ['', 'caf\u00e9', ' ', 'x'.repeat(2_000)]) {
      const { server, assay } = await start({
        play: play((one) => [`${some(one, 1)}id: ${id}\ndata: \n\n`, 'cut']),
      });
      expect(await call(assay)).toEqual(['SERVER_ENDED']);
      expect(server.resumed).toEqual([undefined]);
    }
  });

  it('if the server refuses to resume; the call is not sent again', async () => {
    for (const status of [400, 405, 409]) {
      const { server, assay } = await start({
        play: (one) => {
          if (!first(one)) one.response.writeHead(status).end();
        },
      });
      expect(await call(assay)).toEqual([1, 'SERVER_ENDED']);
      expect(callsOf(server)).toBe(1);
    }
  });

  it('if the session has ended; the call is not sent again, and the next one has a new session', async () => {
    let isOver = false;
    const { server, assay } = await start({
      play: (one) => {
        if (isOver) streamed(one.response, some(one, 9), 'end');
        else if (!first(one)) {
          isOver = true;
          one.response.writeHead(404).end();
        }
      },
    });
    expect(await call(assay)).toEqual([1, 'SERVER_ENDED']);
    expect(callsOf(server)).toBe(1);
    expect(await call(assay)).toEqual(WHOLE);
    expect(server.seen.filter((one) => one.method === 'initialize')).toHaveLength(2);
  });

  it('at its time limit, and the server is notified; nothing is requested after that', async () => {
    const { server, assay } = await start(
      { play: play((one) => [SOON + (one.nth === 0 ? some(one, 1) : ''), 'cut']) },
      1_500,
    );
    expect(await call(assay)).toEqual(['SERVER_TIMEOUT']);
    await until('the server is told', () =>
      server.seen.some((one) => one.method === 'notifications/cancelled') ? true : undefined,
    );
    const { length } = server.resumed;
    await sleep(1_000);
    expect(server.resumed).toHaveLength(length);
  });

  it('when its client disconnects while Assay waits or listens, and the server is notified', async () => {
    for (const text of ['retry: 60000\n', SOON]) {
      const server = await startCutting({
        play: play((one) => [text + some(one, 1), one.nth === 0 ? 'cut' : 'open']),
      });
      endLater(() => server.close());
      const entry = { type: 'http', url: server.url, isolation: 'shared' };
      const assay = await startGateway({ servers: { web: entry } });
      await assay.settled();
      const params = { name: 'web_slow', arguments: {} };
      const asked = startRequest(assay.url, {
        headers: modernHeaders('tools/call', params),
        body: modernBody('tools/call', { params }),
      });
      await until('the call is there', () => (callsOf(server) === 1 ? true : undefined));
      await sleep(300);
      asked.cut();
      await until('the server is told', () =>
        server.seen.some((one) => one.method === 'notifications/cancelled') ? true : undefined,
      );
      await assay.stop();
    }
  });
});

describe.concurrent("a legacy server's GET stream", () => {
  const note = (data: string): string =>
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } });

  it('is resumed where it was, after the delay that the server asks for, without duplicates', async () => {
    const times: number[] = [];
    let readBefore = -1;
    const events = ['a', 'b', 'c'].map((id) => ({ id: `own-${id}`, data: note(`said ${id}`) }));
    const { server, assay } = await start({
      listChanged: true,
      play: () => undefined,
      listen: (request, response) => {
        times.push(Date.now());
        if (times.length === 2) readBefore = listsOf(server);
        const nth = times.length;
        // The second stream repeats an earlier event; the third one continues to the end.
        if (nth === 1)
          streamed(response, `retry: 600\n${eventText(events[0] ?? { id: '', data: '' })}`, 'end');
        else if (nth === 2) streamed(response, events.slice(0, 2).map(eventText).join(''), 'cut');
        else streamed(response, events.slice(2).map(eventText).join(''), 'open');
        request.resume();
      },
    });
    await until('all is said', () => (assay.stderr().includes('said c') ? true : undefined), 10_000);
    for (const { id } of events) expect(assay.stderr().split(`said ${id.slice(-1)}`)).toHaveLength(2);
    expect(server.resumed).toEqual([undefined, 'own-a', 'own-b']);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(590);
    // Nothing was missed, so no list is read again.
    await sleep(500);
    expect(listsOf(server)).toBe(readBefore);
  });

  it('starts over if the server no longer knows the event', async () => {
    let streams = 0;
    let readBefore = -1;
    const { server } = await start({
      listChanged: true,
      play: () => undefined,
      listen: (request, response) => {
        if (request.headers['last-event-id'] !== undefined) response.writeHead(400).end();
        else {
          streamed(response, 'retry: 600\nid: old\ndata: \n\n', ++streams === 1 ? 'end' : 'open');
          if (streams === 2) readBefore = listsOf(server);
        }
      },
    });
    await until('it began anew', () => (server.resumed.length >= 3 ? true : undefined), 10_000);
    expect(server.resumed.slice(0, 3)).toEqual([undefined, 'old', undefined]);
    await until('the list is read again', () => (listsOf(server) > readBefore ? true : undefined));
  });
});

describe.concurrent('an official server with an event store', () => {
  /** Keeps events in memory, like the examples of the SDK. */
  class Events {
    readonly #all: { readonly id: string; readonly stream: string; readonly message: JSONRPCMessage }[] = [];
    storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
      const id = `${stream}_${this.#all.length}`;
      this.#all.push({ id, stream, message });
      return Promise.resolve(id);
    }
    async replayEventsAfter(
      last: string,
      { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
    ): Promise<string> {
      const from = this.#all.findIndex(({ id }) => id === last);
      const stream = this.#all[from]?.stream ?? '';
      for (const one of this.#all.slice(from + 1))
        if (one.stream === stream && Object.keys(one.message).length > 0) await send(one.id, one.message);
      return stream;
    }
  }

  async function startOfficial(): Promise<string> {
    const transports = new Map<string, StreamableHTTPServerTransport>();
    const open = async (): Promise<StreamableHTTPServerTransport> => {
      const server = new McpServer({ name: 'official', version: '1' }, { capabilities: { tools: {} } });
      server.registerTool('poll', { description: 'Closes its stream before it answers.' }, async (extra) => {
        const token = extra._meta?.progressToken;
        const progress = (n: number): Promise<void> =>
          extra.sendNotification({
            method: 'notifications/progress',
            params: { progressToken: token ?? 0, progress: n },
          });
        await progress(1);
        extra.closeSSEStream?.();
        await progress(2);
        await sleep(400);
        return { content: [{ type: 'text', text: 'polled' }] };
      });
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        eventStore: new Events(),
        retryInterval: 100,
        onsessioninitialized: (id) => void transports.set(id, transport),
      });
      await server.connect(transport);
      return transport;
    };
    const http = createServer((request, response) => {
      const id = request.headers['mcp-session-id'];
      const known = typeof id === 'string' ? transports.get(id) : undefined;
      void (async () => {
        await (known ?? (await open())).handleRequest(request, response);
      })();
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    endLater(
      () =>
        new Promise((resolve) => {
          http.close(() => {
            resolve();
          });
          http.closeAllConnections();
        }),
    );
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  }

  it("is polled for the response if it closes a call's stream", async () => {
    const { url } = await addServer({ type: 'http', url: await startOfficial() });
    const session = await openSession(url);
    expect(await Promise.all([1, 2, 3].map(() => session.call('poll')))).toEqual(Array(3).fill('polled'));
    const stream = await session.stream('tools/call', {
      name: 'poll',
      arguments: {},
      _meta: { progressToken: 'p' },
    });
    await stream.ended;
    const messages = stream.messages();
    expect(messages.map((one) => at(one, 'params', 'progress') ?? textOf(one))).toEqual([1, 2, 'polled']);
  });
});
