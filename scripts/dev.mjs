// The gateway on the servers of examples/, built again and restarted after each edit of a package, and the admin pages with hot
// reload. Options after `npm run dev --` go to `assay serve`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, watch } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'vite';

const ROOT = join(import.meta.dirname, '..');
/** An editor writes several files at once. */
const QUIET_MS = 200;

async function run(...args) {
  const [code] = await once(spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' }), 'exit');
  return code === 0;
}

const say = (text) => process.stderr.write(`dev: ${text}\n`);

let gateway;
let isEnding = false;

function start() {
  gateway = spawn(process.execPath, ['examples/start.mjs', ...process.argv.slice(2)], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const started = gateway;
  started.on('exit', (code) => {
    if (!isEnding && gateway === started)
      say(`the gateway ended with ${String(code)}; an edit starts it again`);
  });
}

async function stop() {
  const running = gateway;
  gateway = undefined;
  if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
  running.kill('SIGTERM');
  await once(running, 'exit');
}

if (!(await run('scripts/build.mjs')) || !(await run('examples/prepare.mjs'))) process.exit(1);
start();
const pages = await createServer({ configFile: join(ROOT, 'packages', 'admin', 'vite.config.mjs') });
await pages.listen();
pages.printUrls();

let timer;
let building = Promise.resolve();
function rebuildSoon() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    building = building.then(async () => {
      if (!(await run('scripts/build.mjs', '--without-pages'))) {
        say('the build failed; the gateway of before goes on');
        return;
      }
      await stop();
      if (!isEnding) start();
    });
  }, QUIET_MS);
}
for (const folder of globSync('packages/!(admin)/src', { cwd: ROOT }))
  watch(join(ROOT, folder), { recursive: true }, rebuildSoon);

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, async () => {
    isEnding = true;
    await Promise.all([stop(), pages.close()]);
    process.exit(0);
  });
