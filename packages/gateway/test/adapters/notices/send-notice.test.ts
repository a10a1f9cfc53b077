import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createNoticeSender } from '../../../src/adapters/notices/send-notice.ts';
import type { ResolveName } from '@assay-mcp/kit/platform/checked-lookup';
import { createReachRules } from '../../../src/core/reach-rules.ts';
import type { Notice } from '../../../src/core/notices.ts';
import { tempDir } from '../../../../../test/support/paths.ts';
import { sayJson, serveApi } from '../../../../../test/support/rest-tools.ts';

const rules = createReachRules({ isOnNetwork: true, allowLoopback: false, allowPrivate: false });
const NOTICE: Notice = {
  kind: 'test',
  count: 0,
  tools: [],
  servers: [],
  text: 'Assay: a test.',
  at: '1970-01-01T00:00:00.000Z',
};

let home: string;
beforeEach(() => {
  home = tempDir();
});

describe('a webhook', () => {
  it('gets the notice as JSON', async () => {
    const api = await serveApi();
    const send = createNoticeSender({ rules, home });
    expect(await send({ kind: 'webhook', url: `${api.url}/hook?key=s3cret` }, NOTICE)).toEqual({
      ok: true,
      value: undefined,
    });
    const [seen] = api.seen;
    expect([seen?.method, seen?.target, seen?.headers['content-type']]).toEqual([
      ...['POST', '/hook?key=s3cret', 'application/json'],
    ]);
    expect(JSON.parse(seen?.body ?? '')).toEqual(NOTICE);
  });

  it('is not followed elsewhere, and a failure does not show its path', async () => {
    const other = await serveApi();
    const api = await serveApi((_, response) => {
      response.writeHead(307, { location: `${other.url}/stolen` }).end();
    });
    const send = createNoticeSender({ rules, home });
    expect(await send({ kind: 'webhook', url: `${api.url}/s3cret` }, NOTICE)).toEqual({
      ok: false,
      error: `${api.url} answered with status 307`,
    });
    expect(other.seen).toEqual([]);
  });

  it('does not wait for ever, and its answer is bounded', async () => {
    const silent = await serveApi(() => undefined);
    const loud = await serveApi((_, response) => sayJson(response, 'x'.repeat(1_000_000)));
    const send = createNoticeSender({ rules, home, limitMs: 300 });
    for (const { url } of [silent, loud])
      expect(await send({ kind: 'webhook', url }, NOTICE)).toEqual({
        ok: false,
        error: `${url} could not be reached`,
      });
  });

  it('is not reached at an address that hands out credentials, whatever its name resolves to', async () => {
    const asked: string[] = [];
    const resolve: ResolveName = (hostname, _options, callback) => {
      asked.push(hostname);
      callback(null, [{ address: '169.254.169.254', family: 4 }]);
    };
    // Longer than the test may take: a connection would be waited for.
    const send = createNoticeSender({ rules, home, resolve, limitMs: 600_000 });
    for (const url of ['https://chat.example/hook', 'https://169.254.169.254/hook'])
      expect(await send({ kind: 'webhook', url }, NOTICE)).toMatchObject({ ok: false });
    expect(asked).toEqual(['chat.example']);
  });
});

describe('a program', () => {
  const node = (script: string): readonly [string, ...string[]] => [process.execPath, '-e', script];

  it('gets the notice on stdin, in the home, and nothing of the environment of Assay but locations', async () => {
    process.env['ASSAY_TOKEN_OF_THE_TEST'] = 's3cret';
    const send = createNoticeSender({ rules, home });
    const script =
      "require('fs').writeFileSync('out.json', JSON.stringify({ in: JSON.parse(require('fs').readFileSync(0)), env: process.env, argv: process.argv.slice(1) }))";
    expect(await send({ kind: 'command', argv: [...node(script), '$(id); `id`'] }, NOTICE)).toMatchObject({
      ok: true,
    });
    delete process.env['ASSAY_TOKEN_OF_THE_TEST'];
    const out = JSON.parse(readFileSync(join(home, 'out.json'), 'utf8')) as {
      readonly in: unknown;
      readonly argv: unknown;
    };
    expect([out.in, out.argv]).toEqual([NOTICE, ['$(id); `id`']]);
    expect(JSON.stringify(out)).not.toContain('s3cret');
  });

  it('that fails, is absent or does not exit is reported, and ends', async () => {
    const send = createNoticeSender({ rules, home, limitMs: 1_500 });
    const fault = async (argv: readonly [string, ...string[]]): Promise<unknown> => {
      const sent = await send({ kind: 'command', argv }, NOTICE);
      return sent.ok ? undefined : sent.error;
    };
    expect(await fault(node('process.exit(3)'))).toBe(`${process.execPath} exited with code 3`);
    expect(await fault(['/nowhere/notify'])).toBe('/nowhere/notify failed (COMMAND_NOT_FOUND)');
    const late = join(home, 'late');
    expect(await fault(node(`setTimeout(() => require('fs').writeFileSync('${late}', ''), 60000)`))).toMatch(
      /did not exit within 1.5 s$/,
    );
    expect(existsSync(late)).toBe(false);
  });
});
