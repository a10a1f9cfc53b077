import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createEventReader } from '../../../src/adapters/upstream/http-exchange.ts';
import { receive } from '../../../src/adapters/upstream/incoming.ts';
import { readBatch, readFromClient } from '../../../src/edges/mcp/read-message.ts';
import type { Log } from '../../../src/gateway/ports/log.ts';
import { InOrder } from '@assay-mcp/kit/platform/in-order';
import { LineSplitter } from '@assay-mcp/kit/platform/lines';
import type { Message, NoMessage } from '@assay-mcp/protocol/message';
import { toOneLine } from '@assay-mcp/protocol/splice';
import { IS_LONG } from '../../../../../test/support/campaign.ts';
import { FILLINGS, filled as filledTo } from '../../../../../test/support/hostile-shapes.ts';
import { longestTurn } from '../../../../../test/support/turns.ts';

/** The maximum time in ms for which a peer may block others. */
const BOUND_MS = 250;
/** The maximum heap size of a message in bytes, whatever its content; its buffer is outside of the heap. */
const HEAP_BYTES = 48 * 1024 * 1024;
const SIZE = Number(process.env['HOSTILE_BYTES'] ?? (IS_LONG ? 6 : 1.5) * 1024 * 1024);
const CHUNK = 64 * 1024;
const LIMIT = 512 * 1024 * 1024;

const QUIET: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

function filled(before: string, unit: string, after: string): Buffer {
  return filledTo(SIZE, { before, unit, after });
}

const PLACES: Readonly<Record<string, readonly [before: string, after: string]>> = {
  'the arguments of a call': [
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":',
    '}}',
  ],
  'the params of a call': ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":', '}'],
  'a result': ['{"jsonrpc":"2.0","id":1,"result":', '}'],
  'the _meta of a result': ['{"jsonrpc":"2.0","id":1,"result":{"_meta":', '}}'],
  'a notification': ['{"jsonrpc":"2.0","method":"notifications/message","params":', '}'],
  'something other than a message': ['', ''],
};

/**
 * Feeds bytes to a reader as a pipe or socket does: a limited number per turn of the event loop, and none while
 * paused.
 */
async function feed(bytes: Buffer, take: (chunk: Buffer) => void, isHeld: () => boolean): Promise<void> {
  for (let at = 0; at < bytes.length; at += CHUNK) {
    while (isHeld()) await turn();
    take(bytes.subarray(at, at + CHUNK));
    if ((at / CHUNK) % 32 === 31) await turn();
  }
}

const PEER = { name: 'server', end: (error: unknown): void => expect.unreachable(String(error)) };

interface Receiver {
  readonly messages: InOrder;
  readonly isHeld: () => boolean;
}

function openReceiver(onMessage: (message: Message | NoMessage) => void = () => undefined): Receiver {
  let held = false;
  const take = (bytes: Buffer): Promise<void> | undefined =>
    receive(bytes, { server: 's', log: QUIET }, onMessage);
  return {
    messages: new InOrder({ take, hold: (isHeld) => (held = isHeld), peer: PEER }),
    isHeld: () => held,
  };
}

function allHandled({ messages }: Receiver): Promise<void> {
  return new Promise((resolve) => messages.whenIdle(resolve));
}

async function fromServer(bytes: Buffer): Promise<void> {
  const into = openReceiver();
  const lines = new LineSplitter(LIMIT, {
    line: (line) => into.messages.push(line),
    tooLong: () => undefined,
  });
  await feed(bytes, (chunk) => lines.push(chunk), into.isHeld);
  lines.end();
  await allHandled(into);
}

/** All fillings; in a short run, each filling in one place, and some in each place. */
function fillingsFor(place: number): readonly (readonly [string, (typeof FILLINGS)[string]])[] {
  const places = Object.keys(PLACES).length;
  return Object.entries(FILLINGS).filter((_, at) => IS_LONG || at % places === place);
}

describe('no turn of the event loop takes long', () => {
  for (const [at, [place, [before, after]]] of Object.entries(PLACES).entries())
    it.for(fillingsFor(at))(`for %s in ${place}`, async ([, [open, unit, close]]) => {
      const bytes = filled(before + open, unit, close + after);
      const client = await longestTurn(async () => readFromClient(bytes));
      const server = await longestTurn(() => fromServer(bytes));
      for (const { cpuMs, heapBytes } of [client, server]) {
        expect(cpuMs).toBeLessThan(BOUND_MS);
        expect(heapBytes).toBeLessThan(HEAP_BYTES);
      }
    });

  it.for([
    ['{}\n', 'lines of empty objects'],
    ['\n', 'empty lines'],
    ['\r\n', 'empty lines ended by CRLF'],
    [' \n', 'lines of one space'],
    ['x\n', 'lines that are not JSON'],
    ['{"jsonrpc":"2.0","method":"x"}\n', 'short notifications'],
  ] as const)('for %j repeated', async ([line]) => {
    // Each line costs so much that a fraction of them in one turn would be far beyond the bound.
    const bytes = filledTo(IS_LONG ? SIZE : SIZE / 8, { before: '', unit: line, after: '\n' });
    expect((await longestTurn(() => fromServer(bytes))).cpuMs).toBeLessThan(BOUND_MS);
  });

  it.for([
    ['[', '0,', '0]'],
    ['[', '[],', '0]'],
    ['[', `{"jsonrpc":"2.0","method":"x","params":{"y":[${'0,'.repeat(50_000)}0]}},`, '0]'],
  ] as const)('for a batch of %s %#', async ([open, unit, close]) => {
    expect((await longestTurn(() => readBatch(filled(open, unit, close)))).cpuMs).toBeLessThan(BOUND_MS);
  });

  it.for(['data:\n', 'data: x\n', ':\n', 'data: {}\n\n', 'x:y\n'])('for events of %j', async (line) => {
    const bytes = filled('', line, '\n');
    const { cpuMs, heapBytes } = await longestTurn(async () => {
      let held = false;
      const reader = createEventReader(
        {
          take: (data) => receive(data, { server: 's', log: QUIET }, () => undefined),
          hold: (isHeld) => (held = isHeld),
          peer: PEER,
          onBroken: (error) => expect.unreachable(String(error)),
        },
        {},
      );
      await feed(
        bytes,
        (chunk) => reader.push(chunk),
        () => held,
      );
      await new Promise<void>((resolve) =>
        reader.end({ kind: 'broken', cause: { code: 'CONNECTION_CLOSED' } }, () => resolve()),
      );
    });
    expect(cpuMs).toBeLessThan(BOUND_MS);
    expect(heapBytes).toBeLessThan(HEAP_BYTES);
  });

  it.for(['\n', ' \n', '0,\n', 'x'])('for a message with %j on one line', async (unit) => {
    const bytes = filled('', unit, '');
    expect((await longestTurn(async () => Promise.resolve(toOneLine(bytes)))).cpuMs).toBeLessThan(BOUND_MS);
  });
});

it('messages of one server are handled in order, a large one before the small ones that follow it', async () => {
  const handled: string[] = [];
  const into = openReceiver((message) =>
    handled.push(message.kind === 'response' ? (message.idText ?? '') : message.kind),
  );
  for (const text of [
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    `{"jsonrpc":"2.0","id":2,"result":[${'0,'.repeat(2_000_000)}0]}`,
    '{"jsonrpc":"2.0","id":3,"result":{}}',
    '{"jsonrpc":"2.0","id":4,"id":4,"result":{}}',
    '{"jsonrpc":"2.0","id":5,"result":{}}',
  ])
    into.messages.push(Buffer.from(text));
  await allHandled(into);
  expect(handled).toEqual(['1', '2', '3', 'none', '5']);
});
