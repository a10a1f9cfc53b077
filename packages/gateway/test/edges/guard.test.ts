import { readdir, readFile } from 'node:fs/promises';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { mintToken } from '../../src/adapters/auth/mint-token.ts';
import { TokenGate } from '../../src/adapters/auth/token-gate.ts';
import { formatRefusal } from '../../src/core/sentences.ts';
import {
  createGuard,
  findOriginFault,
  isLoopback,
  SINGLE_HEADERS,
  type GuardOptions,
} from '../../src/edges/mcp/guard.ts';
import * as mcpHeaders from '@assay-mcp/protocol/headers';
import { MemoryTokens } from '../../../../test/support/memory-store.ts';

/** The subject of an admitted request, or the code of the refusal. */
function verdict(options: GuardOptions, headers: IncomingMessage['headers']): string {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers);
  const admitted = createGuard(options)(request);
  if (admitted instanceof Promise) throw new Error('a token of our own is waited for');
  return admitted.ok ? `let in: ${admitted.value.subject}` : admitted.error.code;
}

/** The same for raw header lines, in which a name can occur twice. */
function verdictOnLines(options: GuardOptions, lines: readonly string[]): string {
  const request = new IncomingMessage(new Socket());
  request.rawHeaders = [...lines];
  for (let at = 0; at < lines.length; at += 2)
    request.headers[lines[at]?.toLowerCase() ?? ''] ??= lines[at + 1] ?? '';
  const admitted = createGuard(options)(request);
  if (admitted instanceof Promise) throw new Error('a token of our own is waited for');
  if (admitted.ok) return 'let in';
  return admitted.error.code === 'HEADER_INVALID' ? `${admitted.error.header} invalid` : admitted.error.code;
}

function check(options: GuardOptions, headers: IncomingMessage['headers'], expected: string): void {
  expect([options, headers, verdict(options, headers)]).toEqual([options, headers, expected]);
}

const TOKEN = 'a-token-of-16-chars';
const GATE = await TokenGate.open({
  store: new MemoryTokens(),
  operatorToken: TOKEN,
  ownToken: mintToken(),
  maxFailures: 1_000,
  log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
});
const LOCAL: GuardOptions = { host: '127.0.0.1', isOpen: true, gate: GATE };
const CLOSED: GuardOptions = { ...LOCAL, isOpen: false };
const NETWORK: GuardOptions = { host: '0.0.0.0', isOpen: true, gate: GATE };
const host = '127.0.0.1:4444';
const authorization = `Bearer ${TOKEN}`;

describe('loopback', () => {
  it('includes the loopback names and addresses', () => {
    for (const name of ['localhost', 'LocalHost', '127.0.0.1', '127.255.0.9', '[::1]', '::1', 'localhost:80'])
      expect([name, isLoopback(name)]).toEqual([name, true]);
  });

  it('excludes names that only look like it', () => {
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
  it('a request must be for a loopback host', () => {
    for (const one of ['127.0.0.1', 'localhost:1', '[::1]:65535', 'LOCALHOST'])
      check(LOCAL, { host: one }, 'let in: local');
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

  it('an origin must be loopback over http or https; clients other than browsers send none', () => {
    check(LOCAL, { host }, 'let in: local');
    for (const origin of ['http://localhost:5173', 'https://127.0.0.1', 'http://[::1]:1'])
      check(LOCAL, { host, origin, authorization: `Bearer ${TOKEN}` }, 'let in: operator');
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
    check(CLOSED, { host: 'evil.example', origin: 'http://evil.example' }, 'HOST_FORBIDDEN');
    check(CLOSED, { host, origin: 'http://evil.example', authorization }, 'ORIGIN_FORBIDDEN');
    check(CLOSED, { host }, 'TOKEN_REQUIRED');
    check(CLOSED, { host, authorization }, 'let in: operator');
  });

  it('a page of another port or scheme needs a token even where others need none', () => {
    for (const origin of [`http://${host}`, 'https://localhost:4444', 'http://[::1]:4444'])
      check(LOCAL, { host, origin }, 'let in: local');
    check(LOCAL, { host: '[::1]', origin: 'http://localhost' }, 'let in: local');
    for (const origin of [
      'http://localhost:5173',
      'http://127.0.0.1',
      'https://[::1]',
      'http://localhost:44444',
    ]) {
      check(LOCAL, { host, origin }, 'TOKEN_REQUIRED');
      check(LOCAL, { host, origin, authorization: 'Basic eDp5' }, 'TOKEN_REQUIRED');
    }
  });

  it('the same rules apply to any other loopback address to listen on', () => {
    for (const one of ['localhost', '::1', '127.0.0.2'])
      check({ ...LOCAL, host: one }, { host: 'evil.example' }, 'HOST_FORBIDDEN');
  });
});

describe('beyond loopback', () => {
  it('any host is accepted, but the token is required even if loopback is open', () => {
    check(NETWORK, { host: 'gateway.example', authorization }, 'let in: operator');
    check(NETWORK, { host: 'gateway.example' }, 'TOKEN_REQUIRED');
    check(NETWORK, { authorization }, 'let in: operator');
  });

  it('an origin must match the requested host', () => {
    const own = { host: 'gateway.example:8443', authorization };
    for (const origin of ['https://gateway.example:8443', 'http://gateway.example:8443'])
      check(NETWORK, { ...own, origin }, 'let in: operator');
    for (const origin of [
      'https://gateway.example',
      'https://evil.example',
      'null',
      'https://',
      'http://localhost:8443',
    ])
      check(NETWORK, { ...own, origin }, 'ORIGIN_FORBIDDEN');
  });
});

describe('an allowed origin', () => {
  const origin = 'https://app.example';
  const allowedOrigins = new Set([origin, 'http://localhost:5173']);

  it('is let in with a token, wherever Assay listens', () => {
    for (const options of [LOCAL, CLOSED, NETWORK])
      for (const one of allowedOrigins) {
        check({ ...options, allowedOrigins }, { host, origin: one, authorization }, 'let in: operator');
        check({ ...options, allowedOrigins }, { host, origin: one }, 'TOKEN_REQUIRED');
        check(
          { ...options, allowedOrigins },
          { host, origin: one, authorization: 'Bearer x' },
          'TOKEN_REQUIRED',
        );
      }
  });

  it('lets no other origin in that resembles it, and none at all where it is not passed', () => {
    check(LOCAL, { host, origin, authorization }, 'ORIGIN_FORBIDDEN');
    for (const options of [LOCAL, NETWORK])
      for (const one of [
        'null',
        '*',
        '',
        'http://app.example',
        'https://app.example:443',
        'https://app.example:8443',
        'https://app.example/',
        'https://app.example.',
        'https://APP.example',
        'HTTPS://app.example',
        'https://app.example.evil.example',
        'https://evil-app.example',
        'https://x.app.example',
        'https://app.example@evil.example',
        'https://app.example https://evil.example',
        'https://app.example,http://localhost:5173',
      ])
        check({ ...options, allowedOrigins }, { host, origin: one, authorization }, 'ORIGIN_FORBIDDEN');
  });

  it('does not replace the check of Host against DNS rebinding', () => {
    check({ ...LOCAL, allowedOrigins }, { host: 'app.example', origin, authorization }, 'HOST_FORBIDDEN');
    check({ ...LOCAL, allowedOrigins }, { host: 'evil.example', authorization }, 'HOST_FORBIDDEN');
    check({ ...NETWORK, allowedOrigins }, { host: 'a,b', origin, authorization }, 'HEADER_INVALID');
  });

  it('is named as the remedy only in the refusal of an origin that could be listed', () => {
    const remedyFor = (from: string, allowed: ReadonlySet<string> | undefined): unknown => {
      const request = new IncomingMessage(new Socket());
      Object.assign(request.headers, { host, origin: from });
      const fault = findOriginFault(request, true, allowed);
      return fault && formatRefusal(fault).includes('mcp.allowedOrigins');
    };
    expect(remedyFor('https://other.example', allowedOrigins)).toBe(true);
    for (const one of ['null', 'http://other.example', 'file://'])
      expect([one, remedyFor(one, allowedOrigins)]).toEqual([one, false]);
    expect(remedyFor('https://other.example', undefined)).toBe(false);
  });
});

describe('loopback behind a proxy of this machine', () => {
  const settings = { 'auth.publicUrl': 'https://assay.example.com/gateway' };
  const PROXIED: GuardOptions = { ...LOCAL, settings };
  const publicHost = 'assay.example.com';

  it('admits the public host with a token only, although local clients need none', () => {
    check(PROXIED, { host }, 'let in: local');
    check(PROXIED, { host: publicHost }, 'TOKEN_REQUIRED');
    check(PROXIED, { host: publicHost, authorization: 'Basic YTpi' }, 'TOKEN_REQUIRED');
    check(PROXIED, { host: publicHost, authorization }, 'let in: operator');
    check(PROXIED, { host: 'ASSAY.example.com', authorization }, 'let in: operator');
  });

  it('admits the origin of its own pages there, and no other', () => {
    const from = (origin: string): IncomingMessage['headers'] => ({
      host: publicHost,
      origin,
      authorization,
    });
    check(PROXIED, from('https://assay.example.com'), 'let in: operator');
    for (const origin of ['https://evil.example', 'http://localhost:5173', `http://${host}`, 'null'])
      check(PROXIED, from(origin), 'ORIGIN_FORBIDDEN');
    check(PROXIED, { host, origin: 'https://assay.example.com', authorization }, 'ORIGIN_FORBIDDEN');
  });

  it('refuses every other host', () => {
    for (const other of [
      'evil.example',
      'assay.example.com:8443',
      'assay.example.com.',
      'x.assay.example.com',
      '',
    ])
      check(PROXIED, { host: other, authorization }, 'HOST_FORBIDDEN');
  });

  it('keeps local clients open if the public URL is on loopback itself', () => {
    const options = { ...LOCAL, settings: { 'auth.publicUrl': `http://${host}` } };
    check(options, { host }, 'let in: local');
  });
});

describe('a header that decisions depend on', () => {
  const lines = ['Host', host, 'Authorization', authorization, 'Origin', `http://${host}`];

  it('is refused if duplicated, before any other check, whatever its values', () => {
    for (const options of [LOCAL, CLOSED, NETWORK]) {
      expect(verdictOnLines(options, lines)).toBe('let in');
      for (const name of SINGLE_HEADERS)
        for (const second of ['', host, 'evil.example', authorization]) {
          const twice = [name, host, ...lines, name.toUpperCase(), second];
          expect([name, second, verdictOnLines(options, twice)]).toEqual([
            name,
            second,
            expect.stringMatching(new RegExp(`^${name} invalid$`, 'i')),
          ]);
        }
    }
  });

  it('is accepted next to repeated list headers', () => {
    const more = [
      'Accept',
      'a/b',
      'accept',
      'c/d',
      'If-Match',
      '"1"',
      'If-Match',
      '"2"',
      'Via',
      'x',
      'Via',
      'y',
    ];
    expect(verdictOnLines(CLOSED, [...lines, ...more])).toBe('let in');
  });

  it('is registered: request handling reads no other header except lists and those only compared or logged', async () => {
    const lists = [
      'access-control-request-headers',
      'accept-encoding',
      'accept',
      'if-match',
      'if-none-match',
    ];
    // Node upgrades a connection only if both headers that ask for it agree.
    const compared = ['mcp-method', 'mcp-name', 'upgrade'];
    const onlyLogged = ['user-agent'];
    const read = new Set<string>();
    for (const folder of ['mcp', 'rest'])
      for (const text of await sourcesIn(new URL(`../../src/edges/${folder}/`, import.meta.url)))
        for (const name of headersReadIn(text)) read.add(name);
    expect(read).toContain('authorization');
    expect(read).toContain('if-match');
    const known = new Set([...SINGLE_HEADERS, ...lists, ...compared, ...onlyLogged]);
    expect([...read].filter((name) => !known.has(name))).toEqual([]);
  });
});

async function sourcesIn(folder: URL): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ts'));
  return Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')));
}

/** The names of the headers that a source reads, in all forms in use. */
function headersReadIn(text: string): readonly string[] {
  const quoted = [
    ...text.matchAll(/(?:headers(?:Distinct)?\.get|\bheader)\('([\w-]+)'\)|[Hh]eaders\['([\w-]+)'\]/g),
  ];
  const named = [...text.matchAll(/request\.headers\.([a-z]+)\b(?!\()/g)];
  const constants = [...text.matchAll(/\[headers\.([A-Z_]+)\]/g)];
  const taken = [...text.matchAll(/\{([^{}]*)\} = (?:[\w.]+\.)?headers;/g)];
  return [
    ...[...quoted, ...named].map(([, one, other]) => one ?? other ?? ''),
    ...constants.map(([, name = '']) => String(mcpHeaders[name as keyof typeof mcpHeaders])),
    ...taken.flatMap(([, members = '']) =>
      members.split(',').map((one) => one.split(/[=:]/)[0]?.trim() ?? ''),
    ),
  ].filter((name) => /^[a-z]/.test(name));
}

describe('the Host header beyond loopback', () => {
  it('is one host, with or without a port', () => {
    for (const one of ['gateway.example', 'gateway.example:8443', '10.0.0.1:1', '[fd00::1]:4444', 'my_host'])
      check(NETWORK, { host: one, authorization }, 'let in: operator');
    for (const one of [
      '',
      'a, b',
      'a,b',
      'user@a',
      'a/b',
      'a:b',
      'a:1:2',
      'a b',
      'a?b',
      '[::1',
      'a\\b',
      'http://a',
    ])
      check(NETWORK, { host: one, authorization }, 'HEADER_INVALID');
  });
});

describe('an endpoint that needs no token', () => {
  const sent = (given: string, expected: string): void =>
    check(LOCAL, { host, authorization: given }, expected);

  it('ignores credentials that are not Assay tokens', () => {
    for (const given of ['', 'Basic dXNlcjpwYXNz', 'Bearer eyJhbGciOi', 'Bearer', 'Negotiate x', TOKEN])
      sent(given, 'let in: local');
  });

  it('still refuses an invalid Assay token, complete or not', () => {
    for (const given of ['Bearer assay_0123456789ab_x', 'bearer assay_', 'Bearer  assay_x'])
      sent(given, 'TOKEN_REQUIRED');
  });
});
