import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import type { Cause } from '../../src/core/cause.ts';
import { err, ok } from '@assay-mcp/kit/result';
import type { Connect, Link } from '../../src/gateway/ports/link.ts';
import { listLink } from './list-link.ts';
import { listed, standing } from './listed-server.ts';

it('the link of a ready server is available at once, and that of a stopped server never', async () => {
  const server = listed('a', {}, { connect: standing({}) });
  expect(server.link).toBeUndefined();
  server.start();
  const up = await server.waitUntilReady(new Cancellation());
  expect(up).toEqual({ ok: true, value: server.link });
  expect(server.link).toBeDefined();
  await server.stop();
  expect(server.link).toBeUndefined();
  expect(await server.waitUntilReady(new Cancellation())).toEqual({
    ok: false,
    error: { code: 'SHUTTING_DOWN' },
  });
});
it('a server that cannot be started fails all waiting requests with the cause', async () => {
  const cause: Cause = { code: 'COMMAND_NOT_FOUND', command: 'x' };
  const server = listed('a', {}, { connect: () => Promise.resolve(err(cause)) });
  server.start();
  const waits = [server.waitUntilReady(new Cancellation()), server.waitUntilReady(new Cancellation())];
  const refusal = { ok: false, error: { code: 'SERVER_UNAVAILABLE', server: 'a', cause } };
  expect(await Promise.all(waits)).toEqual([refusal, refusal]);
  await server.stop();
});

it('a failed handshake keeps no request waiting for its process to end, and the next start waits', async () => {
  const cause: Cause = { code: 'PROTOCOL_VERSION_UNSUPPORTED', version: '1999' };
  const processEnded = Promise.withResolvers<undefined>();
  let starts = 0;
  const connect: Connect = (_, { onEnding }) => {
    starts += 1;
    onEnding?.(processEnded.promise.then(() => undefined));
    return Promise.resolve(err(cause));
  };
  const server = listed('a', {}, { connect });
  server.start();
  expect(await server.waitUntilReady(new Cancellation())).toMatchObject({ ok: false, error: { cause } });
  const again = server.tryNow();
  const stopped = server.stop();
  expect(await Promise.race([stopped.then(() => 'stopped'), new Promise(setImmediate)])).not.toBe('stopped');
  expect(starts).toBe(1);
  processEnded.resolve(undefined);
  await Promise.all([again, stopped]);
});

it("a server's capabilities are known as soon as its tools are listed, before its other lists", async () => {
  const capabilities = { tools: {}, prompts: {}, tasks: { requests: { tools: { call: {} } } } };
  const link = listLink(() => '{"tools":[]}');
  const never = new Promise<never>(() => undefined);
  const send: Link['send'] = (request) =>
    request.message.method === 'prompts/list' ? never : link.send(request);
  const server = listed('a', {}, { connect: () => Promise.resolve(ok({ ...link, capabilities, send })) });
  server.start();
  await server.settled('tools');
  expect([server.link, server.capabilities, server.era]).toEqual([undefined, capabilities, 'legacy']);
  await server.stop();
});

const STILL_WAITS = 'it still waits';

it('waiting for a server ends when the request is cancelled', async () => {
  const server = listed('a');
  const cancellation = new Cancellation();
  const wait = server.waitUntilReady(cancellation);
  cancellation.cancel();
  expect(await Promise.race([wait, sleep(2_000, STILL_WAITS)])).not.toBe(STILL_WAITS);
});
it('a request that is already cancelled does not wait for a server', async () => {
  const server = listed('a');
  const cancellation = new Cancellation();
  cancellation.cancel();
  expect(await Promise.race([server.waitUntilReady(cancellation), sleep(100, STILL_WAITS)])).not.toBe(
    STILL_WAITS,
  );
});
