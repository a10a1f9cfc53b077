import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startFetcher } from '../src/start-confined.ts';
import { tempDir } from '../../../test/support/paths.ts';
import { serveWeb } from '../../../test/support/web-server.ts';

/** What a package could try that took over the program that fetches it. Prints what succeeded. */
const ATTEMPTS = `
const fs = require('node:fs');
const [, , folder, outside, home, allowed, other] = process.argv;
const done = [];
const attempt = async (name, act) => { try { await act(); done.push(name); } catch {} };
const get = async (url) => { if (!(await fetch(url)).ok) throw new Error('refused'); };
(async () => {
  await attempt('write inside', () => fs.writeFileSync(folder + '/inside', 'x'));
  await attempt('link inside', () => fs.symlinkSync('/etc/passwd', folder + '/link'));
  await attempt('hard link inside', () => fs.linkSync(folder + '/inside', folder + '/hard'));
  await attempt('write outside', () => fs.writeFileSync(outside + '/outside', 'x'));
  await attempt('read outside', () => fs.readFileSync(outside + '/secret'));
  await attempt('list home', () => { if (fs.readdirSync(home).length === 0) throw new Error('empty'); });
  await attempt('replace itself', () => fs.writeFileSync(__filename, 'x'));
  await attempt('rename the folder', () => fs.renameSync(folder, folder + '-moved'));
  await attempt('reach the registry', () => get(allowed));
  await attempt('reach another host', () => get(other));
  await attempt('reach it without the proxy', () => new Promise((resolve, reject) =>
    require('node:net').connect(Number(new URL(other).port), '127.0.0.1', resolve).on('error', reject)));
  fs.writeFileSync(folder + '/done', JSON.stringify(done));
  process.exit();
})();`;

it('a fetcher changes its folder, reaches its host, and nothing else', async () => {
  const [folder, outside, program] = [tempDir(), tempDir(), tempDir()].map((path) => realpathSync(path));
  const script = join(program!, 'attempts.js');
  writeFileSync(script, ATTEMPTS);
  writeFileSync(join(outside!, 'secret'), 'x');
  mkdirSync(join(folder!, 'cache'));
  const ports = await Promise.all([0, 1].map(() => serveWeb((_, response) => response.end('x'))));
  const [allowed, other] = ports.map((port) => `http://127.0.0.1:${port}/`);
  const started = await startFetcher(
    {
      command: process.execPath,
      args: [script, folder!, outside!, process.env['HOME'] ?? '/root', allowed!, other!],
      cwd: folder!,
      env: {},
    },
    { folder: folder!, reads: [], network: [`127.0.0.1:${ports[0]}`] },
  );
  if (!started.ok) throw new Error(started.error);
  expect(await started.value.child.ended).toEqual({ code: 'PROCESS_EXITED', exitCode: 0 });
  expect(JSON.parse(readFileSync(join(folder!, 'done'), 'utf8'))).toEqual([
    'write inside',
    'reach the registry',
  ]);
  expect(readdirSync(outside!)).toEqual(['secret']);
  expect(readFileSync(script, 'utf8')).toBe(ATTEMPTS);
  expect(started.value.listRefused()).toEqual([`127.0.0.1:${ports[1]}`]);
});
