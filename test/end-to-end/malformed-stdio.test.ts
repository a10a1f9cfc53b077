import { beforeAll, describe, expect, it } from 'vitest';
import { at, parseJson, type Json } from '../support/json.ts';
import { initializeOf } from '../support/legacy.ts';
import { fixture } from '../support/paths.ts';
import { spawnStdio, type Pipe } from '../support/stdio.ts';

const LIMIT = 1_000_000;

describe('malformed input on stdin', () => {
  let pipe: Pipe;
  let lastPing = 0;
  beforeAll(async () => {
    pipe = spawnStdio({ servers: { plain: fixture('plain') }, env: { ASSAY_MAX_BODY_BYTES: String(LIMIT) } });
    await pipe.initialize();
    await pipe.ask('tools/list');
  });

  /** The output for these bytes, up to the answer to a subsequent ping. */
  const answersTo = async (bytes: string | Buffer): Promise<readonly Json[]> => {
    const before = pipe.lines().length;
    const id = `ping ${++lastPing}`;
    pipe.write(bytes);
    pipe.write(`\n{"jsonrpc":"2.0","id":"${id}","method":"ping"}\n`);
    await pipe.next('the pong', (one) => at(one, 'id') === id);
    return pipe
      .lines()
      .slice(before)
      .map(parseJson)
      .filter((one) => at(one, 'id') !== id && at(one, 'method') === undefined);
  };

  it.each(['nonsense', '{', '{"a":1}}', '[1', '{"a":NaN}', '\u0000', 'Content-Length: 30'])(
    '%j gets -32700, and the next message is served',
    async (line) => {
      const answers = await answersTo(line);
      expect(answers.map((one) => [at(one, 'error', 'code'), at(one, 'id') ?? null])).toEqual([
        [-32700, null],
      ]);
    },
  );

  it.each([
    '7',
    'null',
    '{}',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1}',
    '[]',
  ])('%s gets -32600', async (line) => {
    const answers = await answersTo(line);
    expect(answers.map((one) => at(one, 'error', 'code'))).toEqual([-32600]);
  });

  it('empty lines and unknown notifications get nothing', async () => {
    expect(await answersTo('\n\r\n\n{"jsonrpc":"2.0","method":"notifications/none"}')).toEqual([]);
    expect(await answersTo('{"jsonrpc":"2.0","id":4711,"result":{}}')).toEqual([]);
  });

  it('invalid UTF-8 gets -32700', async () => {
    const line = Buffer.concat([
      Buffer.from(
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain_echo","arguments":{"a":"',
      ),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}}}'),
    ]);
    expect((await answersTo(line)).map((one) => at(one, 'error', 'code'))).toEqual([-32700]);
  });

  it('a line over the limit gets an error, the rest of it is skipped, and the next message is served', async () => {
    const line = `{"jsonrpc":"2.0","id":"big","method":"ping","params":{"x":"${'y'.repeat(LIMIT * 3)}"}}`;
    const answers = await answersTo(line);
    expect(answers).toHaveLength(1);
    expect(at(answers[0], 'error', 'data', 'code')).toBe('MESSAGE_TOO_LARGE');
  });

  it('nesting of 100,000 levels gets an error', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const answers = await answersTo(
      `{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"plain_echo","arguments":${deep}}}`,
    );
    expect(answers).toHaveLength(1);
    expect([-32600, -32700]).toContain(at(answers[0], 'error', 'code'));
  });

  it('a message that arrives byte by byte is served', async () => {
    for (const byte of '{"jsonrpc":"2.0","id":"drip","method":"ping"}\n') {
      pipe.write(byte);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await pipe.next('the pong', (one) => at(one, 'id') === 'drip');
  });

  it('a last line without a line break is served when stdin closes', async () => {
    const other = spawnStdio({ servers: { plain: fixture('plain') } });
    other.write(initializeOf('2025-11-25'));
    other.closeStdin();
    expect(await other.ended).toBe(0);
    for (const line of other.lines()) expect(at(parseJson(line), 'jsonrpc')).toBe('2.0');
  });

  it('stdin that is closed at once ends Assay with code 0', async () => {
    const other = spawnStdio({ servers: { plain: fixture('plain'), hanger: fixture('hanger') } });
    other.closeStdin();
    expect(await other.ended).toBe(0);
    expect(other.lines()).toEqual([]);
  });

  it('a reader that disconnects ends Assay, without a crash report', async () => {
    const { spawn } = await import('node:child_process');
    const { cleanEnv, watch } = await import('../support/assay.ts');
    const { MAIN, tempDir, writeConfig } = await import('../support/paths.ts');
    const child = spawn(
      process.execPath,
      [MAIN, 'stdio', '--all', '--config', writeConfig({ plain: fixture('plain') }), '--home', tempDir()],
      { env: cleanEnv(), stdio: 'pipe' },
    );
    const watched = watch(child);
    child.stdout.destroy();
    for (let time = 0; time < 50; time++) child.stdin.write(`${initializeOf('2025-11-25', {}, time)}\n`);
    await watched.ended;
    expect(watched.stderr()).not.toMatch(/at .*\.js:\d+/);
  });
});
