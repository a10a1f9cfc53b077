import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cleanEnv, watch } from '../support/assay.ts';
import { endLater, isAlive, kill, killLater, until, untilLogged } from '../support/endings.ts';
import { fixture, MAIN, ROOT, tempDir, writeConfig } from '../support/paths.ts';
import { childrenOf } from '../support/processes.ts';

/** All processes started by a process, directly or indirectly. */
function descendantsOf(pid: number): readonly number[] {
  return childrenOf(pid).flatMap((child) => [child.pid, ...descendantsOf(child.pid)]);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => {
      resolve(false);
    });
  });
}

// Without `prestart`, which would build below the tests that run meanwhile.
const START = ['start', '--ignore-scripts', '--'];

/** The shell stays between npm and Assay here; it forwards no SIGINT until Assay has ended. */
const EXEC: readonly string[] = ['exec', '-c'];

describe.concurrent.each([
  ['npm start', START, 'SIGTERM'],
  ['npm start', START, 'SIGINT'],
  ['npm start', START, 'Ctrl+C'],
  ['npm start', START, 'SIGHUP'],
  ['npm start', START, 'SIGKILL'],
  ['npm exec', EXEC, 'SIGTERM'],
  ['npm exec', EXEC, 'SIGHUP'],
] as const)('%s', (_, args, signal) => {
  it(`on ${signal} ends with everything that it started`, async () => {
    const config = writeConfig({ plain: fixture('plain') });
    const options = ['--port', '0', '--home', tempDir(), '--config', config];
    const isExec = args === EXEC;
    const more = isExec ? [`node ${MAIN} serve ${options.join(' ')}; true`] : options;
    const npm = spawn('npm', [...args, ...more], {
      cwd: ROOT,
      env: cleanEnv({
        PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
        npm_config_update_notifier: 'false',
      }),
      // A separate process group, as in a terminal.
      detached: true,
      stdio: 'pipe',
    });
    const watched = watch(npm);
    endLater(async () => {
      await watched.stop();
    });
    // The table is printed once the servers are ready.
    const port = await until(
      () => `it serves; stderr: ${watched.stderr()}`,
      () =>
        watched.stdout().includes('To use it')
          ? Number(/endpoint +http:\/\/\S+:(\d+)\/mcp/.exec(watched.stdout())?.[1])
          : undefined,
      30_000,
    );
    const started = descendantsOf(npm.pid ?? 0);
    for (const pid of started) killLater(pid);
    // Assay and its server at least.
    expect(started.length).toBeGreaterThanOrEqual(isExec ? 3 : 2);
    expect(await accepts(port)).toBe(true);

    if (signal === 'Ctrl+C') kill(-(npm.pid ?? 0), 'SIGINT');
    else kill(npm.pid ?? 0, signal);
    await until(`nothing of it is left: ${started.join(', ')}`, () =>
      started.some(isAlive) ? undefined : true,
    );
    expect(await accepts(port)).toBe(false);
    const code = await watched.ended;
    // npm passes these two on and waits: Assay ended in good order, and not at once as at a second signal.
    if (signal === 'Ctrl+C' || (!isExec && signal === 'SIGTERM')) expect(code).toBe(0);
  });
});

it('npm start without bubblewrap says what to install, and serves the file server nevertheless', async () => {
  // Created by `prestart`.
  mkdirSync(join(ROOT, 'examples', 'scratch'), { recursive: true });
  const npm = spawn(process.execPath, ['examples/start.mjs', '--port', '0', '--home', tempDir()], {
    cwd: ROOT,
    env: { ...cleanEnv(), PATH: dirname(process.execPath) },
    stdio: 'pipe',
  });
  const watched = watch(npm);
  endLater(async () => {
    await watched.stop();
  });
  await until(
    () => `it serves; stderr: ${watched.stderr()}`,
    () => watched.stdout().includes('To use it') || undefined,
    30_000,
  );
  await untilLogged(
    watched,
    /^"filesystem" runs without the sandbox of examples\/mcp\.json: .+\. (Install bubblewrap|Run Assay on)/m,
  );
  // A start on a busy machine prints the table again when all servers have settled.
  await until(
    () => `the table shows the server as up: ${watched.stdout()}`,
    () => /filesystem +up/.test(watched.stdout()) || undefined,
    60_000,
  );
});
