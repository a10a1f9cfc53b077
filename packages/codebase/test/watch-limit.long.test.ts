// Limits of the kernel, in a user namespace of its own whose limits are low.
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { connectClient } from '../../../test/support/clients.ts';
import { until } from '../../../test/support/endings.ts';
import { at, listAt } from '../../../test/support/json.ts';
import { CODEBASE_MAIN, tempDir } from '../../../test/support/paths.ts';
import { call, type Peer, writeIn } from './hint-checks.ts';

it.each([
  ['max_inotify_watches', 3, 'fs.inotify.max_user_watches'],
  ['max_inotify_instances', 0, 'fs.inotify.max_user_instances'],
])('index_status says that the limit %s is reached, and searches go on', async (limit, value, setting) => {
  const home = realpathSync(tempDir());
  const repo = join(realpathSync(tempDir()), 'shop');
  for (const name of ['a', 'b', 'c', 'd'])
    writeIn(repo, `${name}/x.ts`, `export function ${name}Name() {}\n`);
  mkdirSync(home, { recursive: true });
  const script = `echo ${value} > /proc/sys/user/${limit} && exec "$@"`;
  const program = [process.execPath, CODEBASE_MAIN, '--home', home, '--root', repo];
  const command = ['unshare', '--user', '--map-root-user', 'sh', '-c', script, 'sh', ...program];
  const peer: Peer = { client: await connectClient({ command }, 'legacy'), home };
  expect(await call(peer, 'index_repository', { repo_path: repo })).toMatchObject({ isError: false });
  const watch = await until('it is off', async () => {
    const { structured } = await call(peer, 'index_status', {});
    const now = at(listAt(structured, 'repositories')[0] ?? null, 'watch');
    return at(now, 'state') === 'off' ? now : undefined;
  });
  expect(watch).toMatchObject({ reason: 'SYSTEM_LIMIT' });
  expect(at(watch, 'message')).toContain(setting);
  writeIn(repo, 'a/x.ts', 'export function changed() {}\n');
  const { structured } = await call(peer, 'search_code', { query: 'aName' });
  expect(listAt(structured, 'results')[0]).toMatchObject({ state: 'stale' });
});
