// Where connections to MCP servers may lead; checked before a socket opens.
import { expect, it } from 'vitest';
import type { Reach } from '../../src/reach.ts';
import type { ResolveName } from '../../src/platform/checked-lookup.ts';
import { HttpClient } from '../../src/platform/http-client.ts';
import { freePort } from '../../../../test/support/assay.ts';
import { endLater } from '../../../../test/support/endings.ts';
import { serveWeb } from '../../../../test/support/web-server.ts';

/** Resolves to these addresses one after the other, and to the last ones from then on. */
function resolvingTo(...answers: readonly (readonly string[])[]): ResolveName {
  let asked = 0;
  return (_name, _options, callback) => {
    const found = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    setImmediate(() =>
      callback(
        null,
        found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
    );
  };
}

/** The outcome of a request: its status, or why there is none and whether nothing was sent. */
function ask(origin: string, reaches: readonly Reach[], resolve?: ResolveName): () => Promise<string> {
  const client = new HttpClient(origin, {
    reaches: new Set(reaches),
    chosenBy: 'operator',
    resolve,
  });
  endLater(() => client.close());
  return () =>
    new Promise((done) => {
      client.call(
        { method: 'GET', path: '/', headers: ['connection', 'close'], body: undefined },
        {
          start: (status) => done(String(status)),
          data: () => undefined,
          end: () => undefined,
          error: (fault, isUnreached) => done(`${isUnreached ? 'unsent' : 'sent'}: ${JSON.stringify(fault)}`),
        },
      );
    });
}

const refused = (...reaches: readonly Reach[]): string =>
  `unsent: ${JSON.stringify({ code: 'ADDRESS_NOT_ALLOWED', reaches, chosenBy: 'operator' })}`;

it.each<readonly [string, Reach]>([
  ['127.0.0.1', 'loopback'],
  ['0x7f.1', 'loopback'],
  ['017700000001', 'loopback'],
  ['2130706433', 'loopback'],
  ['127.0.0.1.', 'loopback'],
  ['１２７.0.0.1', 'loopback'],
  ['[::1]', 'loopback'],
  ['[::ffff:127.0.0.1]', 'loopback'],
  ['[64:ff9b::7f00:1]', 'loopback'],
  ['localhost', 'loopback'],
  ['[::ffff:169.254.169.254]', 'metadata'],
  ['[::ffff:0:a9fe:a9fe]', 'metadata'],
])(
  '%s is not contacted if its address is forbidden, whether or not something listens there',
  async (host, reach) => {
    let visits = 0;
    const open = await serveWeb((_, response) => response.end(String(++visits)));
    const closed = await freePort();
    for (const port of [open, closed])
      expect(await ask(`http://${host}:${port}`, ['public'])()).toBe(refused(reach));
    expect(visits).toBe(0);
  },
);

it('a host name is resolved for each connection, so that a later DNS response cannot lead elsewhere', async () => {
  let visits = 0;
  const port = await serveWeb((_, response) =>
    response.writeHead(200, { connection: 'close' }).end(String(++visits)),
  );
  const resolve = resolvingTo(['127.0.0.1'], ['169.254.169.254'], ['10.0.0.1', 'fd00:ec2::254']);
  const once = ask(`http://rebinding.example:${port}`, ['loopback'], resolve);
  expect(await once()).toBe('200');
  expect(await once()).toBe(refused('metadata'));
  expect(await once()).toBe(refused('private', 'metadata'));
  expect(visits).toBe(1);
});

it('only the allowed addresses of a host name are used', async () => {
  const port = await serveWeb((_, response) => response.end('here'));
  const both = resolvingTo(['169.254.169.254', '127.0.0.1']);
  expect(await ask(`http://both.example:${port}`, ['loopback'], both)()).toBe('200');
});

it('a refused connection is reported as unsent', async () => {
  const origin = `http://127.0.0.1:${await freePort()}`;
  expect(await ask(origin, ['loopback'])()).toBe('unsent: {"code":"CONNECTION_REFUSED"}');
});

it('a server without TLS is reported as a TLS failure', async () => {
  const port = await serveWeb((_, response) => response.end('here'));
  expect(await ask(`https://127.0.0.1:${port}`, ['loopback'])()).toMatch(
    /^sent: {"code":"TLS_FAILED","error":"ERR_SSL_/,
  );
});
