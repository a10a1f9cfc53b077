import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cleanEnv } from '../support/assay.ts';
import { endLater, killLater, until } from '../support/endings.ts';
import { childrenOf } from '../support/processes.ts';
import { MAIN, tempDir, writeConfig } from '../support/paths.ts';

/** Port 53 needs root; an address of its own leaves the machine's resolver alone. */
const RESOLVER = '127.77.0.1';

it.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)(
  'assay serve ends at once although a name is still being resolved',
  async () => {
    const silent = createSocket('udp4');
    endLater(() => new Promise((resolve) => silent.close(() => resolve())));
    silent.bind(53, RESOLVER);
    const asked = once(silent, 'message');
    const home = tempDir();
    const resolver = join(home, 'resolv.conf');
    // The system asks five times and waits half a minute each time.
    writeFileSync(resolver, `nameserver ${RESOLVER}\noptions timeout:30 attempts:5\n`);
    const config = writeConfig({ a: { type: 'http', url: 'http://slow.example/mcp' } });
    const serve = spawn(
      'bwrap',
      [
        ...['--dev-bind', '/', '/', '--bind', resolver, '/etc/resolv.conf', process.execPath, MAIN, 'serve'],
        ...['--config', config, '--home', home, '--port', '0'],
      ],
      { env: cleanEnv({}), stdio: ['ignore', 'pipe', 'pipe'] },
    );
    killLater(serve.pid);
    let output = '';
    for (const stream of [serve.stdout, serve.stderr])
      stream.on('data', (text: Buffer) => (output += text.toString()));
    await asked;
    await until('it listens', () => (output.includes('/admin') ? true : undefined));
    const ended = once(serve, 'exit');
    // The signal is for Assay itself, not for what set up its view of the file.
    for (const { pid } of childrenOf(serve.pid ?? 0)) process.kill(pid, 'SIGTERM');
    expect(await ended).toEqual([0, null]);
  },
);
