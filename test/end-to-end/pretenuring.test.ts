import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { cleanEnv, watch } from '../support/assay.ts';
import { endLater, until } from '../support/endings.ts';
import { fixture, MAIN, tempDir, writeConfig } from '../support/paths.ts';

const GUESS = 'pretenuring:';
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'young', version: '1' } },
};

/** Runs Node with V8's pretenuring trace until `isReady` matches, and returns its output. */
async function outputOf(args: readonly string[], isReady: RegExp): Promise<string> {
  const child = spawn(process.execPath, ['--trace-pretenuring-statistics', ...args], {
    env: cleanEnv(),
    stdio: 'pipe',
  });
  const watched = watch(child);
  endLater(async () => {
    await watched.stop();
  });
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  await until(
    () => `it is ready; stderr: ${watched.stderr()}`,
    () => (isReady.test(watched.stdout()) ? true : undefined),
    15_000,
  );
  await watched.stop();
  return watched.stdout();
}

it.each([
  ['serve', ['--port', '0'], /endpoint +http/],
  ['stdio', ['--all'], /"serverInfo"/],
])('assay %s turns off V8 pretenuring', async (command, args, isReady) => {
  const config = writeConfig({ plain: fixture('plain') });
  const place = ['--config', config, '--home', tempDir()];
  expect(await outputOf([MAIN, command, ...place, ...args], isReady)).not.toContain(GUESS);
});

it('V8 traces pretenuring if it is on', async () => {
  const script = `const kept = [];
    for (let at = 0; at < 1e6; at++) kept[at % 1e5] = { list: [at], inner: { at } };
    console.log('done');
    setInterval(() => {}, 1e3);`;
  expect(await outputOf(['--eval', script], /done/)).toContain(GUESS);
});
