import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { BodyBudget } from '../../src/core/body-budget.ts';
import { readBody } from '../../src/edges/mcp/read-message.ts';

const MiB = 1024 * 1024;

it('a large body is read in small parts while many others are being read, and arrives in full', async () => {
  const small = 128 * 1024;
  expect(await mostBytesPerTurn({ others: 4 })).toBeLessThanOrEqual(small);
  // With few others, it is read as fast as it arrives, which the sender and the system decide too.
  const alone: number[] = [];
  while (alone.length < 5) alone.push(await mostBytesPerTurn({ others: 0 }));
  expect(Math.max(...alone)).toBeGreaterThan(small);
});

/** The most bytes of one body that arrive in one turn of the event loop. */
async function mostBytesPerTurn({ others }: { readonly others: number }): Promise<number> {
  const budget = new BodyBudget(64 * MiB);
  for (let left = others; left > 0; left -= 1)
    budget.reserve('other', { declaredBytes: MiB, maxBytes: MiB }, () => undefined);
  let bytesInTurn = 0;
  let most = 0;
  let received: number | undefined;
  const server = createServer((message, response) => {
    message.on('data', (chunk: Buffer) => {
      if (bytesInTurn === 0) setImmediate(() => (bytesInTurn = 0));
      bytesInTurn += chunk.length;
      most = Math.max(most, bytesInTurn);
    });
    const options = { subject: 'a', limitBytes: 64 * MiB, budget, onRefused: () => undefined };
    void readBody(message, options).then((body) => {
      received = body?.bytes.length;
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: '127.0.0.1', port, method: 'POST' });
  sent.end(Buffer.alloc(8 * MiB));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  server.closeAllConnections();
  server.close();
  expect([received, budget.unfinished]).toEqual([8 * MiB, others]);
  return most;
}
