import { describe, expect, it } from 'vitest';
import { at, parseJson, type Json } from '../support/json.ts';
import { MODERN, META } from '../support/modern.ts';
import { fixture, writeText } from '../support/paths.ts';
import { spawnStdio } from '../support/stdio.ts';
import { untilLogged } from '../support/endings.ts';

const SERVERS = {
  plain: fixture('plain'),
  babbler: fixture('babbler'),
  dead: { command: 'no-such-command-anywhere' },
  bad: { type: 'carrier-pigeon' },
};

const HOSTILE: readonly (readonly [string, Record<string, string>])[] = [
  ['NODE_DEBUG', { NODE_DEBUG: 'http,net,stream,child_process,module,undici,timer' }],
  ['DEBUG=*', { DEBUG: '*', DEBUG_COLORS: '1' }],
  ['ASSAY_LOG_LEVEL=trace', { ASSAY_LOG_LEVEL: 'trace', ASSAY_LOG_FILE: '/dev/stdout' }],
  [
    'settings of other programs',
    { LOG_LEVEL: 'debug', LOG_FORMAT: 'pretty', LOG_FILE: '/dev/stdout', PINO_LOG_LEVEL: 'trace' },
  ],
  [
    'colors and verbose Node',
    { FORCE_COLOR: '3', NODE_OPTIONS: '--trace-warnings --trace-deprecation', NODE_ENV: 'development' },
  ],
];

describe('stdout of assay stdio contains only JSON-RPC', () => {
  it.each(HOSTILE)('with %s', async (_name, env) => {
    const pipe = spawnStdio({ servers: SERVERS, env });
    await checkPurity(pipe);
  });

  it('with a flawed config: comments, unknown keys and an invalid entry', async () => {
    const config = writeText(
      `// a comment\n{"mcpServers": {"plain": ${JSON.stringify(fixture('plain'))}, "broken": 7,}, "$schema": "x", "inputs": []}`,
    );
    await checkPurity(spawnStdio({ config }));
  });

  it('with a refused setting: the message goes to stderr', async () => {
    const pipe = spawnStdio({ servers: SERVERS, env: { ASSAY_LOG_LEVEL: 'shout' } });
    pipe.closeStdin();
    expect(await pipe.ended).not.toBe(0);
    expect(pipe.lines()).toEqual([]);
    await untilLogged(pipe, 'ASSAY_LOG_LEVEL');
  });

  it('when a signal stops it', async () => {
    const pipe = spawnStdio({ servers: SERVERS });
    await pipe.initialize();
    await pipe.ask('tools/list');
    await pipe.stop();
    expectPure(pipe.lines());
  });
});

async function checkPurity(pipe: ReturnType<typeof spawnStdio>): Promise<void> {
  await pipe.initialize();
  pipe.write('this is no JSON\n{"jsonrpc":"2.0"}\n');
  await pipe.ask('tools/list');
  await pipe.call('plain_echo', { a: 1 });
  await pipe.ask('tools/call', { name: 'none' });
  await pipe.ask('tools/list', {
    _meta: { [`${META}protocolVersion`]: MODERN, [`${META}clientCapabilities`]: {} },
  });
  pipe.closeStdin();
  await pipe.ended;
  expectPure(pipe.lines());
}

function expectPure(lines: readonly string[]): void {
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    const message: Json = parseJson(line);
    expect(at(message, 'jsonrpc')).toBe('2.0');
  }
}
