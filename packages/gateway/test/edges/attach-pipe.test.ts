import { duplexPair, PassThrough, type Duplex } from 'node:stream';
import { expect, it } from 'vitest';
import { RETIRING_LINE } from '../../src/core/attach.ts';
import { runAttachPipe } from '../../src/edges/mcp/attach-pipe.ts';
import { endLater, until } from '../../../../test/support/endings.ts';

/** The lines that one end has received. */
interface Lines {
  readonly all: () => readonly string[];
  /** Waits for a line, and returns all up to there. */
  readonly upTo: (part: string) => Promise<readonly string[]>;
}

function read(stream: Duplex): Lines {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const all = (): readonly string[] => text.split('\n').slice(0, -1);
  const upTo = (part: string): Promise<readonly string[]> =>
    until(part, () => {
      const at = all().findIndex((line) => line.includes(part));
      return at < 0 ? undefined : all().slice(0, at + 1);
    });
  return { all, upTo };
}

interface Gateway extends Lines {
  readonly end: Duplex;
  readonly send: (line: string) => void;
}

interface World {
  readonly say: (...lines: readonly string[]) => void;
  readonly client: Lines;
  readonly input: PassThrough;
  /** The gateway that was opened at this place. */
  readonly gateway: (index: number) => Promise<Gateway>;
  readonly opened: () => readonly (boolean | undefined)[];
  readonly done: Promise<unknown>;
  readonly stop: () => void;
}

function start(): World {
  const [input, output, stopping] = [new PassThrough(), new PassThrough(), new AbortController()];
  const gateways: Gateway[] = [];
  const retired: (boolean | undefined)[] = [];
  const done = runAttachPipe({
    input,
    output,
    stopping: stopping.signal,
    maxBodyBytes: 10_000,
    isFailed: () => false,
    open: (again) => {
      const [own, end] = duplexPair();
      retired.push(again?.isRetired);
      gateways.push({ ...read(end), end, send: (line) => void end.write(`${line}\n`) });
      return Promise.resolve({ ok: true, value: own });
    },
  });
  endLater(async () => {
    stopping.abort();
    for (const { end } of gateways) end.destroy();
    await done;
  });
  return {
    say: (...lines) => void input.write(lines.map((line) => `${line}\n`).join('')),
    client: read(output),
    input,
    gateway: (index) => until(`gateway ${index}`, () => gateways[index]),
    opened: () => retired,
    done,
    stop: () => stopping.abort(),
  };
}

const request = (id: number | string, method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const answer = (id: number | string): string => JSON.stringify({ jsonrpc: '2.0', id, result: {} });
const INITIALIZE = request('i', 'initialize');
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

it('opens the session of the client again: handshake, level, subscriptions and open reads, in this order', async () => {
  const { say, client, gateway } = start();
  const first = await gateway(0);
  say(
    INITIALIZE,
    INITIALIZED,
    request(1, 'logging/setLevel'),
    request(2, 'resources/subscribe', { uri: 'a' }),
  );
  say(request(3, 'resources/subscribe', { uri: 'b' }), request(4, 'resources/unsubscribe', { uri: 'b' }));
  await first.upTo('"id":4');
  for (const id of ['i', 1, 2, 3, 4]) first.send(answer(id));
  await client.upTo('"id":4');
  say(request(5, 'tools/list'), request(6, 'tools/call'));
  await first.upTo('"id":6');
  first.end.destroy();
  const second = await gateway(1);
  expect(await second.upTo('"id":5')).toEqual([
    INITIALIZE,
    INITIALIZED,
    request(1, 'logging/setLevel'),
    request(2, 'resources/subscribe', { uri: 'a' }),
    request(5, 'tools/list'),
  ]);
  const before = client.all().length;
  for (const id of ['i', 1, 2, 5]) second.send(answer(id));
  await client.upTo('"id":5');
  const after = client.all().slice(before - 5);
  // The lost call is answered once, and what is repeated only for the gateway not again.
  expect(after.filter((line) => line.includes('"id":6'))).toEqual([expect.stringContaining('GATEWAY_ENDED')]);
  expect(client.all().filter((line) => line === answer('i'))).toHaveLength(1);
  expect(client.all().filter((line) => line.includes('tools/list_changed'))).toHaveLength(1);
});

it('sends a handshake without an answer again, and what the client sent behind it', async () => {
  const { say, client, gateway } = start();
  const first = await gateway(0);
  say(INITIALIZE, INITIALIZED, request(1, 'tools/list'));
  await first.upTo('"id":1');
  first.end.destroy();
  const second = await gateway(1);
  expect(await second.upTo('"id":1')).toEqual([INITIALIZE, INITIALIZED, request(1, 'tools/list')]);
  second.send(answer('i'));
  expect(await client.upTo('"id":"i"')).toContain(answer('i'));
});

it('ends the questions of a gateway that is gone, and passes no late answer on', async () => {
  const { say, client, gateway } = start();
  const first = await gateway(0);
  first.send(request(7, 'elicitation/create'));
  first.send(request(8, 'elicitation/create'));
  first.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}');
  await client.upTo('"requestId":8');
  first.end.destroy();
  const second = await gateway(1);
  await client.upTo('"requestId":7');
  say(answer(7), request(1, 'ping'));
  expect(await second.upTo('"id":1')).toEqual([request(1, 'ping')]);
  expect(client.all().filter((line) => line.includes('"requestId":8'))).toHaveLength(1);
});

it('forgets the requests of an answered batch only, and cancelled ones', async () => {
  const { say, client, gateway } = start();
  const first = await gateway(0);
  say(
    request(1, 'tools/call'),
    `[${request(2, 'tools/call')},${request('x', 'ping')}]`,
    request(3, 'tools/call'),
  );
  say('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}');
  await first.upTo('notifications/cancelled');
  first.send(`[${answer(2)},${answer('x')}]`);
  await client.upTo('[');
  first.end.destroy();
  await gateway(1);
  await client.upTo('"id":1');
  expect(client.all().filter((line) => line.includes('GATEWAY_ENDED'))).toHaveLength(1);
});

it('says whether the last gateway retired, and hides that line from the client', async () => {
  const { client, gateway, opened } = start();
  const first = await gateway(0);
  first.send(RETIRING_LINE);
  first.send(answer(1));
  await client.upTo('"id":1');
  first.end.destroy();
  const second = await gateway(1);
  second.end.destroy();
  await gateway(2);
  expect([opened(), client.all()]).toEqual([[undefined, true, false], [answer(1)]]);
});

it('refuses a message that is too long, and goes on', async () => {
  const { say, client, gateway } = start();
  say('x'.repeat(10_001), request(1, 'ping'));
  expect(await (await gateway(0)).upTo('"id":1')).toEqual([request(1, 'ping')]);
  expect(await client.upTo('"id":null')).toEqual([expect.stringContaining('MESSAGE_TOO_LARGE')]);
});

it.each(['closed its side', 'been stopped'] as const)('ends when the client has %s', async (how) => {
  const { say, client, input, gateway, done, stop } = start();
  const first = await gateway(0);
  say(request(1, 'tools/call'));
  await first.upTo('"id":1');
  if (how === 'been stopped') stop();
  else input.end();
  await until('the end of the client is known', () => (first.end.readableEnded ? true : undefined));
  first.send(answer(1));
  first.end.end();
  expect(await done).toEqual({ ok: true, value: undefined });
  expect(client.all()).toEqual([answer(1)]);
});
