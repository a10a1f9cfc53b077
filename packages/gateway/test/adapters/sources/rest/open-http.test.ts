// Where tools may send requests, and how much of a response is read.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import {
  type HttpAnswer,
  type HttpCall,
  type HttpPort,
  openHttp,
} from '../../../../src/adapters/sources/http/open-http.ts';
import { createReachRules } from '../../../../src/core/reach-rules.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { Reach } from '@assay-mcp/kit/reach';
import type { ResolveName } from '@assay-mcp/kit/platform/checked-lookup';
import { freePort } from '../../../../../../test/support/assay.ts';
import { endLater } from '../../../../../../test/support/endings.ts';
import { scaledMs } from '../../../../../../test/support/slow-machine.ts';
import { serveWeb } from '../../../../../../test/support/web-server.ts';

const ALL: readonly Reach[] = ['public', 'private', 'loopback', 'link-local', 'metadata', 'reserved'];

function open(reaches: readonly Reach[] = ['public', 'loopback'], resolve?: ResolveName): HttpPort {
  const rules = createReachRules({
    isOnNetwork: true,
    allowLoopback: reaches.includes('loopback'),
    allowPrivate: reaches.includes('private'),
  });
  const http = openHttp({ rules, resolve });
  endLater(() => http.close());
  return http;
}

function send(
  http: HttpPort,
  url: string,
  more: Partial<HttpCall> = {},
): Promise<Result<HttpAnswer, string>> {
  return http.send({
    method: 'GET',
    url: new URL(url),
    chosenBy: 'operator',
    headers: [],
    maxBytes: 1_000,
    cancellation: Cancellation.following(AbortSignal.timeout(10_000)),
    ...more,
  });
}

async function textOf(answer: Promise<Result<HttpAnswer, string>>): Promise<string> {
  const result = await answer;
  return result.ok
    ? `${result.value.status} ${result.value.body.toString()}${result.value.isCut ? ' (cut)' : ''}`
    : result.error;
}

/** The end of the error message if a setting would allow the address. */
function settable(reach: 'loopback' | 'private'): string {
  const [name, variable] = {
    loopback: ['http.allowLoopback', 'ASSAY_HTTP_ALLOW_LOOPBACK'],
    private: ['http.allowPrivate', 'ASSAY_HTTP_ALLOW_PRIVATE'],
  }[reach] as [string, string];
  return `so nothing was sent there: to allow it, set ${name} (${variable}=true) in the environment or in "settings" of the config file.`;
}

/** Resolves to these addresses one after the other, and to the last one from then on. */
function resolvingTo(...answers: readonly string[]): ResolveName {
  let asked = 0;
  return (_name, _options, callback) => {
    const address = answers[Math.min(asked, answers.length - 1)]!;
    asked += 1;
    setImmediate(() => callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]));
  };
}

describe('the target of a request', () => {
  it('may be any address that the operator allows', async () => {
    const port = await serveWeb((request, response) => response.end(`${request.method} ${request.url}`));
    expect(await textOf(send(open(), `http://127.0.0.1:${port}/a?b=1`))).toBe('200 GET /a?b=1');
  });

  it.each<[string, 'loopback' | 'private']>([
    ['127.0.0.1', 'loopback'],
    ['0x7f.1', 'loopback'],
    ['2130706433', 'loopback'],
    ['127.0.0.1.', 'loopback'],
    ['[::1]', 'loopback'],
    ['[::ffff:127.0.0.1]', 'loopback'],
    ['10.0.0.1', 'private'],
    ['[::ffff:a00:1]', 'private'],
  ])('cannot be %s without a setting, which the error names', async (host, reach) => {
    const text = await textOf(send(open(['public']), `http://${host}/a?secret=1`));
    expect(text).toBe(
      `"${new URL(`http://${host}`).origin}/a" leads to a ${reach} address, ${settable(reach)}`,
    );
  });

  it.each([
    ['169.254.169.254', 'metadata'],
    ['[fd00:ec2::254]', 'metadata'],
    ['169.254.1.1', 'link-local'],
    ['0.0.0.0', 'reserved'],
    ['[::ffff:0:7f00:1]', 'reserved'],
  ])('can never be %s', async (host, reach) => {
    expect(await textOf(send(open(ALL), `http://${host}/`))).toBe(
      `"${new URL(`http://${host}`).href}" leads to a ${reach} address, so nothing was sent there: no setting allows that.`,
    );
  });

  it('cannot contain a user or password, or have another scheme', async () => {
    expect(await textOf(send(open(), 'http://a:b@127.0.0.1/'))).toBe(
      '"http://127.0.0.1/" holds a user or a password.',
    );
    expect(await textOf(send(open(), 'ftp://127.0.0.1/'))).toContain('is not an http address');
  });

  it('is resolved and checked for each connection, so that a later DNS response cannot change it', async () => {
    let visits = 0;
    const port = await serveWeb((_, response) => {
      visits += 1;
      response.writeHead(200, { connection: 'close' }).end('hello');
    });
    const url = `http://changing.example:${port}/`;
    const http = open(['loopback'], resolvingTo('127.0.0.1', '10.0.0.1', '169.254.169.254'));
    expect(await textOf(send(http, url))).toBe('200 hello');
    expect(await textOf(send(http, url))).toBe(`"${url}" leads to a private address, ${settable('private')}`);
    expect(await textOf(send(http, url))).toBe(
      `"${url}" leads to a metadata address, so nothing was sent there: no setting allows that.`,
    );
    expect(await textOf(send(open(['public'], resolvingTo('127.0.0.1')), url))).toContain(
      'a loopback address',
    );
    expect(visits).toBe(1);
  });

  it("is the allowed one of a host name's addresses", async () => {
    const port = await serveWeb((_, response) => response.end('hello'));
    const both: ResolveName = (_name, _options, callback) =>
      callback(null, [
        { address: '10.0.0.1', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]);
    expect(await textOf(send(open(['loopback'], both), `http://both.example:${port}/`))).toBe('200 hello');
  });

  it('is named without its query in the error if it cannot be reached', async () => {
    const port = await freePort();
    expect(await textOf(send(open(), `http://127.0.0.1:${port}/a?key=secret`))).toBe(
      `"http://127.0.0.1:${port}/a" refuses connections: nothing listens there (ECONNREFUSED).`,
    );
    expect(await textOf(send(open(), 'http://nobody.invalid/'))).toContain(
      'has a host name that is not known',
    );
  });
});

describe('a connection', () => {
  it('opened under one set of rules is not reused under stricter ones', async () => {
    let visits = 0;
    const port = await serveWeb((_, response) => response.end(String(++visits)));
    const http = open(['public'], resolvingTo('127.0.0.1'));
    const url = `http://kept.example:${port}/`;
    expect(await textOf(send(http, url, { chosenBy: 'config' }))).toBe('200 1');
    expect(await textOf(send(http, url))).toContain('leads to a loopback address');
    expect(await textOf(send(http, url, { chosenBy: 'public_source' }))).toContain('loopback address');
    expect(visits).toBe(1);
  });
});

describe('a redirect', () => {
  const to = (location: string, status = 302): Promise<number> =>
    serveWeb((_, response) => response.writeHead(status, { location }).end('moved'));

  it.each([301, 302, 303, 307, 308])('with status %i is followed for a GET request', async (status) => {
    const port = await serveWeb((request, response) =>
      request.url === '/end'
        ? response.end(`${request.method} ${request.headers.authorization}`)
        : response.writeHead(status, { location: '/end' }).end(),
    );
    const headers = [['Authorization', 'Bearer a']] as const;
    expect(await textOf(send(open(), `http://127.0.0.1:${port}/`, { headers }))).toBe('200 GET Bearer a');
  });

  it('is not followed for a request that may have side effects', async () => {
    const port = await to('/elsewhere', 307);
    expect(await textOf(send(open(), `http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }))).toBe(
      '307 moved',
    );
  });

  it.each([
    ['http://10.0.0.1/', `leads to a private address, ${settable('private')}`],
    [
      'http://169.254.169.254/latest/',
      'leads to a metadata address, so nothing was sent there: no setting allows that.',
    ],
    ['http://[::ffff:10.0.0.1]/', `leads to a private address, ${settable('private')}`],
    ['ftp://127.0.0.1/', 'is not an http address.'],
  ])('to %s is not followed', async (location, end) => {
    const port = await to(location);
    const text = await textOf(send(open(), `http://127.0.0.1:${port}/a?b`));
    expect(text).toBe(`"http://127.0.0.1:${port}/a", which redirects to ${new URL(location).origin}, ${end}`);
  });

  it('to another origin drops credentials, even if it then leads back', async () => {
    const seen: unknown[] = [];
    const first: number = await serveWeb((request, response) => {
      seen.push([
        request.url,
        request.headers.authorization,
        request.headers.cookie,
        request.headers['x-key'],
      ]);
      if (request.url === '/back') response.end('back');
      else response.writeHead(302, { location: `http://127.0.0.1:${second}/` }).end();
    });
    const second: number = await serveWeb((request, response) => {
      const { authorization, cookie, 'x-key': key, accept } = request.headers;
      seen.push([authorization, cookie, key, accept]);
      response.writeHead(302, { location: `http://127.0.0.1:${first}/back` }).end();
    });
    const headers = [
      ['AUTHORIZATION', 'Bearer a'],
      ['cookie', 'b'],
      ['X-Key', 'c'],
      ['accept', 'd'],
    ] as const;
    const answer = send(open(), `http://127.0.0.1:${first}/`, { headers, secretHeaders: ['X-KEY'] });
    expect(await textOf(answer)).toBe('200 back');
    expect(seen).toEqual([
      ['/', 'Bearer a', 'b', 'c'],
      [undefined, undefined, undefined, 'd'],
      ['/back', undefined, undefined, undefined],
    ]);
  });

  it('keeps the rights of the configured URL within its origin, and only those of the settings beyond it', async () => {
    const other = await serveWeb((_, response) => response.end('other'));
    const port: number = await serveWeb((request, response) => {
      const location = request.url === '/own' ? '/end' : `http://127.0.0.1:${other}/`;
      if (request.url === '/end') response.end('end');
      else response.writeHead(302, { location }).end();
    });
    const from = `http://127.0.0.1:${port}`;
    const config = { chosenBy: 'config' } as const;
    expect(await textOf(send(open(['public']), `${from}/own`, config))).toBe('200 end');
    expect(await textOf(send(open(['public']), `${from}/other`, config))).toBe(
      `"${from}/other", which redirects to http://127.0.0.1:${other}, leads to a loopback address, ${settable('loopback')}`,
    );
    expect(await textOf(send(open(), `${from}/other`, config))).toBe('200 other');
  });

  it('from a host with a public address may lead only to public addresses, whatever the settings', async () => {
    const other = await serveWeb((_, response) => response.end('other'));
    const port = await to(`http://127.0.0.1:${other}/`);
    // An attacker's DNS returns a public address too, so that the host does not look internal.
    const both: ResolveName = (_name, _options, callback) =>
      callback(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '203.0.114.1', family: 4 },
      ]);
    const url = `http://both.example:${port}/`;
    expect(await textOf(send(open(['loopback', 'private'], both), url))).toBe(
      `"${url}", which redirects to http://127.0.0.1:${other}, leads to a loopback address, so nothing was sent there: ` +
        'a source at a public address may name public addresses only, so give the URL itself instead.',
    );
  });

  it('is followed at most five times in a row', async () => {
    const port = await serveWeb((request, response) => {
      const left = Number(request.url!.slice(1));
      if (left === 0) response.end('here');
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    expect(await textOf(send(open(), `http://127.0.0.1:${port}/5`))).toBe('200 here');
    expect(await textOf(send(open(), `http://127.0.0.1:${port}/6`))).toBe(
      `"http://127.0.0.1:${port}/6" redirects more than 5 times, so there is no answer.`,
    );
  });
});

describe('a response', () => {
  it('is read up to the limit, where its connection is closed', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(65_536, 'x');
    const port = await serveWeb((_, response) => {
      const go = (): void => {
        while (sent < 2 ** 31 && !response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', go);
        }
        response.end();
      };
      go();
    });
    const answer = await send(open(), `http://127.0.0.1:${port}/`, { maxBytes: 100_000 });
    expect(answer).toMatchObject({ ok: true, value: { status: 200, isCut: true } });
    expect(answer.ok && answer.value.body.length).toBe(100_000);
    expect(sent).toBeLessThan(2 ** 25);
  });

  it("is complete if it has exactly the limit's size", async () => {
    const port = await serveWeb((_, response) => response.end('x'.repeat(1_000)));
    expect(await textOf(send(open(), `http://127.0.0.1:${port}/`))).toBe(`200 ${'x'.repeat(1_000)}`);
  });

  it('is abandoned when the call is cancelled while it arrives slowly', async () => {
    let isOver = false;
    const port = await serveWeb((_, response) => {
      const drip = setInterval(() => response.write('x'), 10);
      response.on('close', () => {
        clearInterval(drip);
        isOver = true;
      });
    });
    const beganMs = performance.now();
    const answer = send(open(), `http://127.0.0.1:${port}/`, {
      cancellation: Cancellation.following(AbortSignal.timeout(150)),
    });
    expect(await textOf(answer)).toBe(`"http://127.0.0.1:${port}/" was not waited for any longer.`);
    expect(performance.now() - beganMs).toBeLessThan(scaledMs(2_000));
    await expect.poll(() => isOver).toBe(true);
  });

  it('is not requested for a cancelled call', async () => {
    let visits = 0;
    const port = await serveWeb((_, response) => response.end(String(++visits)));
    const answer = send(open(), `http://127.0.0.1:${port}/`, {
      cancellation: Cancellation.following(AbortSignal.abort()),
    });
    expect(await textOf(answer)).toContain('was not waited for any longer');
    expect(visits).toBe(0);
  });

  it('is requested uncompressed, and decompressed within the limit if it is compressed anyway', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const port = await serveWeb((request, response) => {
      expect(request.headers['accept-encoding']).toBe('identity');
      const coded = request.url === '/bomb' ? bomb : gzipSync('hello');
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(coded);
    });
    expect(await textOf(send(open(), `http://127.0.0.1:${port}/`))).toBe('200 hello');
    const answer = await send(open(), `http://127.0.0.1:${port}/bomb`, { maxBytes: 100_000 });
    expect(answer.ok && [answer.value.body.length, answer.value.isCut]).toEqual([100_000, true]);
  });

  it('is refused if its content coding is unknown', async () => {
    const port = await serveWeb((_, response) =>
      response.writeHead(200, { 'content-encoding': 'rot13' }).end('uryyb'),
    );
    expect(await textOf(send(open(), `http://127.0.0.1:${port}/`))).toBe(
      `"http://127.0.0.1:${port}/" answered in the coding "rot13", which cannot be read.`,
    );
  });

  it('is refused if the connection closes before its end', async () => {
    const port = await serveWeb((_, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('x');
      setTimeout(() => response.destroy(), 20);
    });
    expect(await textOf(send(open(), `http://127.0.0.1:${port}/`))).toBe(
      `"http://127.0.0.1:${port}/" closed the connection before its answer was whole.`,
    );
  });
});
