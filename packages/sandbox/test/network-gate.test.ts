import { createServer as createSite, request } from 'node:http';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { NetworkGate } from '../src/network-gate.ts';

/** Host names of this machine; a DNS server may return any address for a name. */
const NAMES: Readonly<Record<string, string>> = {
  'rebound.example.com': '127.0.0.1',
  'site.test': '127.0.0.1',
  'metadata.test': '169.254.169.254',
};

const site = createSite(({ method, url, headers }, answer) => answer.end(`${method} ${url} ${headers.host}`));
const gates: { readonly gate: NetworkGate; readonly server: Server }[] = [];
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  port = (site.address() as AddressInfo).port;
});

afterAll(() => {
  site.close();
  for (const { gate } of gates) gate.close();
});

async function gateFor(allowed: readonly string[] | undefined): Promise<{ gate: NetworkGate; at: number }> {
  const gate = new NetworkGate({
    allowed,
    namedReaches: new Set(['public', 'loopback']),
    resolve: (hostname, _, callback) =>
      callback(null, [{ address: NAMES[hostname] ?? '127.0.0.1', family: 4 }]),
  });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = (server.address() as AddressInfo).port;
  expect(gate.serve(server)).toBe(true);
  gates.push({ gate, server });
  return { gate, at };
}

/** Status and body of a plain request through the gate. */
function fetched(at: number, url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'hidden.test' };
    const asked = request({ host: '127.0.0.1', port: at, path: url, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve(`${response.statusCode} ${text.trim()}`));
    });
    asked.on('error', reject).end();
  });
}

/** First line of the answer to CONNECT. */
function tunnelled(at: number, destination: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(at, '127.0.0.1', () =>
      socket.write(`CONNECT ${destination} HTTP/1.1\r\nhost: x\r\n\r\n`),
    );
    socket.once('data', (chunk: Buffer) => {
      resolve(chunk.toString().split('\r\n')[0] ?? '');
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

it('relays requests and tunnels to a named host, and to nothing behind it', async () => {
  const { gate, at } = await gateFor(['site.test']);
  expect(await fetched(at, `http://site.test:${port}/x?y=1`)).toBe(`200 GET /x?y=1 site.test:${port}`);
  expect(await tunnelled(at, `site.test:${port}`)).toBe('HTTP/1.1 200 Connection Established');
  expect(gate.denials).toEqual([]);
});

it.each<[why: string, host: string, allowed: readonly string[] | undefined]>([
  ['a name that is not in the list', 'site.test', ['other.test']],
  ['a name below an allowed domain that leads to this machine', 'rebound.example.com', ['*.example.com']],
  ['any name that leads to this machine, without a list', 'rebound.example.com', undefined],
  ['a named host that leads to the metadata service', 'metadata.test', ['metadata.test']],
  ['the address of the metadata service', '169.254.169.254', undefined],
  ['an address of this machine', '127.0.0.1', undefined],
  ['an address of this machine that is written otherwise', '[::ffff:127.0.0.1]', undefined],
])('refuses %s, and records its name', async (_, host, allowed) => {
  const { gate, at } = await gateFor(allowed);
  expect(await fetched(at, `http://${host}:${port}/`)).toMatch(
    /^403 The sandbox of this server does not allow/,
  );
  expect(await tunnelled(at, `${host}:${port}`)).toBe('HTTP/1.1 403 Forbidden');
  expect(gate.denials).toHaveLength(2);
  for (const { kind, target } of gate.denials) {
    expect(kind).toBe('connect');
    expect(target).toMatch(new RegExp(`:${port}$`));
  }
});

it('refuses anything but a tunnel or a proxy request', async () => {
  const { at } = await gateFor(undefined);
  expect(await fetched(at, '/health')).toMatch(/^403/);
  expect(await tunnelled(at, 'no-port.test')).toBe('HTTP/1.1 403 Forbidden');
});
