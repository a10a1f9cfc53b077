import { expect, it } from 'vitest';
import type { Reach } from '../../src/reach.ts';
import { openCarefulFetch, type CarefulFetch } from '../../src/platform/careful-fetch.ts';
import { freePort } from '../../../../test/support/assay.ts';
import { endLater } from '../../../../test/support/endings.ts';
import { serveWeb } from '../../../../test/support/web-server.ts';

function careful(...reaches: readonly Reach[]): CarefulFetch {
  return carefulWithin(20_000, ...reaches);
}

function carefulWithin(limitMs: number, ...reaches: readonly Reach[]): CarefulFetch {
  const allowed = new Set(reaches);
  const fetching = openCarefulFetch({
    reachesFor: () => allowed,
    remedy: () => 'see the settings',
    allowsPlainLoopback: true,
    limitMs,
    limitBytes: 1_000,
  });
  endLater(() => fetching.close());
  return fetching;
}

it('returns a response from an allowed address', async () => {
  const port = await serveWeb((request, response) => response.end(`${request.method} ${request.url}`));
  const answer = await careful('loopback').fetch(`http://127.0.0.1:${port}/a?b`, {
    method: 'POST',
    body: 'c',
  });
  expect([answer.status, await answer.text()]).toEqual([200, 'POST /a?b']);
});

it('checks the address of a host name when it connects', async () => {
  let visits = 0;
  const port = await serveWeb((_, response) => response.end(String(++visits)));
  // A name that passes every textual check, like one in an attacker's DNS.
  await expect(careful('public').fetch(`http://localhost:${port}/`)).rejects.toThrow(
    'leads to a loopback address, so nothing was sent there: see the settings',
  );
  expect(visits).toBe(0);
  expect((await careful('loopback').fetch(`http://localhost:${port}/`)).status).toBe(200);
});

it('does not follow redirects by itself', async () => {
  const port = await serveWeb((_, response) => response.writeHead(302, { location: '/elsewhere' }).end());
  const answer = await careful('loopback').fetch(`http://127.0.0.1:${port}/`);
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/elsewhere']);
});

it('limits the size and duration of a response', async () => {
  const large = await serveWeb((_, response) => response.end('x'.repeat(1_001)));
  const limit = `http://127.0.0.1:${large}/`;
  await expect(careful('loopback').fetch(limit)).rejects.toThrow('answered with more than 1000 bytes');
  const silent = await serveWeb(() => undefined);
  await expect(carefulWithin(500, 'loopback').fetch(`http://127.0.0.1:${silent}/?secret`)).rejects.toThrow(
    `"http://127.0.0.1:${silent}/" did not answer in time`,
  );
});

it('reports why there is no response, without revealing the query', async () => {
  const port = await freePort();
  const of = (url: string): Promise<unknown> => careful('loopback', 'public').fetch(url);
  await expect(of(`http://127.0.0.1:${port}/?a=secret`)).rejects.toThrow(
    `"http://127.0.0.1:${port}/" could not be reached (ECONNREFUSED)`,
  );
  await expect(of('https://nobody.invalid/')).rejects.toThrow('has a host name that is not known');
  await expect(of('http://example.com/')).rejects.toThrow('is not an https address');
  await expect(of('https://a:b@127.0.0.1/')).rejects.toThrow('holds a user or a password');
});
