import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startAssay, type Assay } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { endLater, until } from '../support/endings.ts';
import { send } from '../support/http.ts';
import { at } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';

const KEY = 'k3y/of "the" leaker, 42';

async function shownBy(assay: Assay): Promise<string> {
  return assay.stderr() + assay.stdout() + JSON.stringify(await assay.health());
}

function expectNothingOf(key: string, shown: string): void {
  const forms = [key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key)];
  for (const form of forms) expect(shown).not.toContain(form);
  for (const shift of [0, 1, 2]) {
    const inside = Buffer.from('x'.repeat(shift) + key)
      .toString('base64')
      .slice(4, -4);
    expect(shown).not.toContain(inside);
  }
}

describe('a server that prints its own key on stderr, in log messages and in invalid messages', () => {
  it('has it masked in the log and in /health; the result of a call is unchanged', async () => {
    const assay = await startAssay({
      servers: { leaker: fixture('leaker', [], { env: { API_KEY: KEY } }) },
      env: { ASSAY_LOG_LEVEL: 'trace' },
    });
    await assay.settled();
    const session = await openSession(assay.url);
    expect(await session.call('leaker_say')).toBe(KEY);
    await until('all that it said is logged', () => (assay.stderr().includes('no JSON') ? true : undefined));
    const shown = await shownBy(assay);
    expect(shown).toContain('leaker: my key is [masked]');
    expect(shown).toContain('here: [masked]');
    expect(shown).toContain('this is no JSON: [masked]');
    expect(shown).toContain('Basic [masked]');
    expectNothingOf(KEY, shown);
    for (const line of assay.stderr().split('\n').slice(0, -1)) JSON.parse(line);
  });
});

describe('a server whose startup error contains its own key', () => {
  const leaker = (): ReturnType<typeof fixture> =>
    fixture('leaker', ['--refuse=yes'], { env: { API_KEY: KEY } });

  it('has it masked in the log, in /health, on the terminal and in errors for clients', async () => {
    const assay = await startAssay({ servers: { leaker: leaker(), plain: fixture('plain') } });
    await assay.settled();
    const session = await openSession(`http://127.0.0.1:${assay.port}/mcp/servers/leaker`);
    const refused = at(await session.ask('tools/call', { name: 'say', arguments: {} }), 'error');
    expect(JSON.stringify(refused)).toContain('the key [masked] is not accepted');
    const shown = (await shownBy(assay)) + JSON.stringify(refused);
    expect(shown).toContain('the key [masked] is not accepted');
    expectNothingOf(KEY, shown);
  });

  it('has it masked in the output of a command', async () => {
    const config = writeConfig({ leaker: leaker() });
    const { stdout, stderr } = await runAssay(['tools', '--config', config, '--home', tempDir()]);
    expect(stdout + stderr).toContain('[masked]');
    expectNothingOf(KEY, stdout + stderr);
  });
});

describe('an HTTP server that redirects to a URL with the key of its own URL', () => {
  it('has it masked in errors for clients', async () => {
    const key = 'hidden-key-in-the-query';
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () =>
        socket.end(`HTTP/1.1 308 x\r\nlocation: https://a/mcp?key=${key}\r\ncontent-length: 0\r\n\r\n`),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    endLater(async () => {
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp?key=${key}`;
    const assay = await startAssay({ servers: { web: { type: 'http', url } } });
    await assay.settled();
    const session = await openSession(`http://127.0.0.1:${assay.port}/mcp/servers/web`);
    const refused = JSON.stringify(await session.ask('tools/call', { name: 'x', arguments: {} }));
    expect(refused).toContain('https://a/mcp?key=[masked]');
    expect((await shownBy(assay)) + refused).not.toContain(key);
  });
});

describe("Assay's token", () => {
  it('is masked if a server repeats it', async () => {
    const token = 'the-token-of-this-assay';
    const assay = await startAssay({
      servers: { leaker: fixture('leaker', [], { env: { API_KEY: `x ${token}` } }) },
      env: { ASSAY_TOKEN: token, ASSAY_LOG_LEVEL: 'debug' },
    });
    await until('it was said', () => (assay.stderr().includes('my key is') ? true : undefined));
    expect(assay.stderr()).not.toContain(token);
    const health = await send(`http://127.0.0.1:${assay.port}/health`, {
      method: 'GET',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(health.text).not.toContain(token);
  });
});
