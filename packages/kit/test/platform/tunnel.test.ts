import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type AddressInfo, type Server } from 'node:net';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HttpClient } from '../../src/platform/http-client.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../../../../test/fixtures/certificate.ts';
import { endLater } from '../../../../test/support/endings.ts';

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endLater(() => new Promise((resolve) => server.close(() => resolve())));
  return (server.address() as AddressInfo).port;
}

const authorities = tls.getCACertificates('default');
beforeAll(() => tls.setDefaultCACertificates([CERTIFICATE]));
// Other files are tested in the same process.
afterAll(() => tls.setDefaultCACertificates(authorities));

it('TLS in a tunnel works, also after a connection has broken during a response', async () => {
  let requests = 0;
  const site = createSecureServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (request, response) => {
    requests += 1;
    response.writeHead(200, { connection: 'close' });
    if (requests === 1) response.write('half', () => request.socket.destroy());
    else response.end('whole');
  });
  const destinations: (string | undefined)[] = [];
  const proxy = createServer().on('connect', ({ url }, near) => {
    destinations.push(url);
    const far = connect(sitePort, '127.0.0.1', () => near.write('HTTP/1.1 200 OK\r\n\r\n'));
    far.pipe(near).pipe(far);
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  const sitePort = await listen(site);
  const client = new HttpClient(`https://localhost:${sitePort}`, {
    ...{ reaches: new Set(['loopback'] as const), chosenBy: 'operator' },
    sandboxProxy: `http://127.0.0.1:${await listen(proxy)}`,
  });
  endLater(() => client.close());
  const get = (): Promise<string> =>
    new Promise((resolve) => {
      let text = '';
      const handler = {
        start: () => undefined,
        data: (chunk: Buffer) => void (text += chunk.toString()),
        end: () => resolve(`${text}, end`),
        error: ({ code }: { readonly code: string }) => resolve(`${text}, ${code}`),
      };
      client.call({ method: 'GET', path: '/', headers: [], body: undefined }, handler);
    });
  expect([await get(), await get()]).toEqual([expect.stringMatching(/^half, CONNECTION_/), 'whole, end']);
  expect(destinations).toEqual(Array(2).fill(`localhost:${sitePort}`));
});
