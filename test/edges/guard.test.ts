import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { guard, isLoopback, type GuardOptions } from '../../src/edges/mcp/guard.ts';

function verdict(options: GuardOptions, headers: IncomingMessage['headers']): string {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers);
  return guard(options)(request)?.code ?? 'let in';
}

function check(options: GuardOptions, headers: IncomingMessage['headers'], expected: string): void {
  expect([options, headers, verdict(options, headers)]).toEqual([options, headers, expected]);
}

const LOCAL: GuardOptions = { host: '127.0.0.1', token: undefined };
const TOKEN = 'a-token-of-16-chars';
const OPEN: GuardOptions = { host: '0.0.0.0', token: TOKEN };
const host = '127.0.0.1:4444';
const authorization = `Bearer ${TOKEN}`;

describe('loopback', () => {
  it('is what names this machine alone', () => {
    for (const name of ['localhost', 'LocalHost', '127.0.0.1', '127.255.0.9', '[::1]', '::1', 'localhost:80'])
      expect([name, isLoopback(name)]).toEqual([name, true]);
  });

  it('is nothing that only looks like it', () => {
    for (const name of [
      '',
      '0.0.0.0',
      '::',
      '[::]',
      '127.1',
      '2130706433',
      '128.0.0.1',
      'localhost.',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'evil-localhost',
      '127.0.0.1:80:80',
      '127.0.0.1:',
      '127.0.0.1\n',
      '[::1',
      '::1:80',
      '[::ffff:127.0.0.1]',
    ])
      expect([name, isLoopback(name)]).toEqual([name, false]);
  });
});

describe('on loopback', () => {
  it('a request must be for a host of loopback', () => {
    for (const one of ['127.0.0.1', 'localhost:1', '[::1]:65535', 'LOCALHOST'])
      check(LOCAL, { host: one }, 'let in');
    for (const one of [
      'evil.example',
      '127.0.0.1.evil.example',
      'localhost@evil.example',
      '10.0.0.1:4444',
      '',
    ])
      check(LOCAL, { host: one }, 'HOST_FORBIDDEN');
    check(LOCAL, {}, 'HOST_FORBIDDEN');
  });

  it('a page must come from loopback, by http or https; who is no page has no origin', () => {
    check(LOCAL, { host }, 'let in');
    for (const origin of ['http://localhost:5173', 'https://127.0.0.1', 'http://[::1]:1'])
      check(LOCAL, { host, origin }, 'let in');
    for (const origin of [
      'null',
      '',
      'https://evil.example',
      'http://localhost.evil.example',
      'http://localhost/x',
      'file://',
      'ws://localhost',
      'http://localhost:1@evil.example',
      'http://localhost http://evil.example',
    ])
      check(LOCAL, { host, origin }, 'ORIGIN_FORBIDDEN');
  });

  it('the host is checked before the origin, and both before the token', () => {
    const all = { host: '127.0.0.1', token: TOKEN };
    check(all, { host: 'evil.example', origin: 'http://evil.example' }, 'HOST_FORBIDDEN');
    check(all, { host, origin: 'http://evil.example', authorization }, 'ORIGIN_FORBIDDEN');
    check(all, { host }, 'TOKEN_REQUIRED');
    check(all, { host, authorization }, 'let in');
  });

  it('is also what an address of loopback is called otherwise', () => {
    for (const one of ['localhost', '::1', '127.0.0.2'])
      check({ host: one, token: undefined }, { host: 'evil.example' }, 'HOST_FORBIDDEN');
  });
});

describe('beyond loopback', () => {
  it('any host will do, with the token', () => {
    check(OPEN, { host: 'gateway.example', authorization }, 'let in');
    check(OPEN, { host: 'gateway.example' }, 'TOKEN_REQUIRED');
    check(OPEN, { authorization }, 'let in');
  });

  it('a page must come from the very host that it asks', () => {
    const own = { host: 'gateway.example:8443', authorization };
    for (const origin of ['https://gateway.example:8443', 'http://gateway.example:8443'])
      check(OPEN, { ...own, origin }, 'let in');
    for (const origin of [
      'https://gateway.example',
      'https://evil.example',
      'null',
      'https://',
      'http://localhost:8443',
    ])
      check(OPEN, { ...own, origin }, 'ORIGIN_FORBIDDEN');
  });
});

describe('a token', () => {
  const sent = (given: string, expected: string): void =>
    check(OPEN, { host, authorization: given }, expected);

  it('is taken in any spelling of the scheme', () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  ']) sent(`${scheme} ${TOKEN}`, 'let in');
  });

  it('must be the whole token, in its own letters, under this scheme', () => {
    for (const given of [
      '',
      'Bearer',
      'Bearer ',
      TOKEN,
      `Basic ${TOKEN}`,
      `Bearer ${TOKEN}x`,
      `Bearer x${TOKEN}`,
      `Bearer ${TOKEN.slice(1)}`,
      `Bearer ${TOKEN.toUpperCase()}`,
      `Bearer ${TOKEN} ${TOKEN}`,
      `Bearer${TOKEN}`,
      ` Bearer ${TOKEN}`,
    ])
      sent(given, 'TOKEN_REQUIRED');
  });
});
