// Two real processes of the server, each with an official client over stdio, on one home.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { cleanEnv } from '../../../test/support/assay.ts';
import { endLater, kill, until } from '../../../test/support/endings.ts';
import { at, listAt, type Json } from '../../../test/support/json.ts';
import { CODEBASE_MAIN, tempDir } from '../../../test/support/paths.ts';
import { call, type Peer, snapshot, writeIn } from './hint-checks.ts';

const HOME = realpathSync(tempDir());
const ROOT = join(realpathSync(tempDir()), 'shop');

interface Server extends Peer {
  readonly pid: number;
}

async function startServer(args: readonly string[] = []): Promise<Server> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CODEBASE_MAIN, '--home', HOME, ...args],
    cwd: ROOT,
    env: cleanEnv() as Record<string, string>,
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '1' });
  endLater(() => client.close());
  await client.connect(transport);
  if (transport.pid === null) throw new Error('The server has not started.');
  return { client, home: HOME, pid: transport.pid };
}

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.example', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

/** The paths of the files in which a search finds an identifier. */
async function find(peer: Peer, name: string): Promise<readonly string[]> {
  const { structured } = await call(peer, 'search_code', { query: name });
  const exact = listAt(structured, 'results').filter((one) => String(at(one, 'content')).includes(name));
  return exact.map((one) => String(at(one, 'file_path')));
}

async function untilFound(peer: Peer, name: string, paths: readonly string[]): Promise<void> {
  const wanted = JSON.stringify(paths);
  await until(`${name} is found in ${wanted}`, async () =>
    JSON.stringify(await find(peer, name)) === wanted ? true : undefined,
  );
}

async function watchOf(peer: Peer): Promise<Json | undefined> {
  const { structured } = await call(peer, 'index_status', {});
  return at(listAt(structured, 'repositories')[0] ?? null, 'watch');
}

async function untilWatch(peer: Peer, state: string): Promise<Json | undefined> {
  return until(`the watch is ${state}`, async () => {
    const watch = await watchOf(peer);
    return at(watch, 'state') === state ? watch : undefined;
  });
}

const define = (name: string): string => `export function ${name}(): void {}\n`;

let first: Server;
beforeAll(async () => {
  mkdirSync(ROOT);
  git('init', '-q', '-b', 'main');
  writeIn(ROOT, 'src/orders.ts', define('bookOrder'));
  writeIn(ROOT, '.gitignore', '*.log\n/out/\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  first = await startServer();
  await call(first, 'index_repository', { repo_path: ROOT });
  await untilWatch(first, 'on');
});

describe('a repository that one process watches', () => {
  it('is indexed again after an edit, without a call', async () => {
    writeIn(ROOT, 'src/orders.ts', define('cancelOrder'));
    await untilFound(first, 'cancelOrder', ['src/orders.ts']);
    expect(await find(first, 'bookOrder')).toEqual([]);
  });

  it('follows editors that replace a file, and deleted files', async () => {
    writeIn(ROOT, 'src/orders.ts.tmp', define('refundOrder'));
    renameSync(join(ROOT, 'src/orders.ts.tmp'), join(ROOT, 'src/orders.ts'));
    await untilFound(first, 'refundOrder', ['src/orders.ts']);
    writeIn(ROOT, 'src/gone.ts', define('vanish'));
    await untilFound(first, 'vanish', ['src/gone.ts']);
    rmSync(join(ROOT, 'src/gone.ts'));
    await untilFound(first, 'vanish', []);
  });

  it('follows folders that are created, moved, and replaced by others of the same name', async () => {
    writeIn(ROOT, 'lib/deep/one.ts', define('deepOne'));
    await untilFound(first, 'deepOne', ['lib/deep/one.ts']);
    writeIn(ROOT, 'lib/deep/two.ts', define('deepTwo'));
    await untilFound(first, 'deepTwo', ['lib/deep/two.ts']);
    renameSync(join(ROOT, 'lib'), join(ROOT, 'moved'));
    await untilFound(first, 'deepOne', ['moved/deep/one.ts']);
    rmSync(join(ROOT, 'moved'), { recursive: true });
    writeIn(ROOT, 'moved/deep/three.ts', define('deepThree'));
    await untilFound(first, 'deepThree', ['moved/deep/three.ts']);
    writeIn(ROOT, 'moved/deep/four.ts', define('deepFour'));
    await untilFound(first, 'deepFour', ['moved/deep/four.ts']);
  });

  it('follows a checkout, also of a branch with the same files', async () => {
    git('add', '.');
    git('commit', '-q', '-m', 'second');
    git('checkout', '-q', '-b', 'other');
    const head = async (): Promise<unknown> => {
      const { structured } = await call(first, 'index_status', {});
      return at(at(at(listAt(structured, 'repositories')[0] ?? null, 'last_run'), 'git'), 'branch');
    };
    await until('the index is of the branch', async () => ((await head()) === 'other' ? true : undefined));
    const { structured } = await call(first, 'search_code', { query: 'refundOrder' });
    expect(at(structured, 'notes')).toEqual([]);
    git('checkout', '-q', 'HEAD~1');
    await untilFound(first, 'bookOrder', ['src/orders.ts']);
    expect(await find(first, 'refundOrder')).toEqual([]);
  });

  it('follows the rules of ignore files', async () => {
    writeIn(ROOT, 'out/built.ts', define('builtName'));
    writeIn(ROOT, 'src/marker.ts', define('markerOne'));
    await untilFound(first, 'markerOne', ['src/marker.ts']);
    expect(await find(first, 'builtName')).toEqual([]);
    writeIn(ROOT, '.gitignore', '*.log\n');
    await untilFound(first, 'builtName', ['out/built.ts']);
  });

  it('has an index that nothing writes while nothing changes, whatever tools that read are called', async () => {
    // What a run has indexed can be found a moment before the run ends.
    await until('the run has ended', async () => {
      const { structured } = await call(first, 'index_status', {});
      return at(structured, 'is_running') === false ? true : undefined;
    });
    const former = snapshot(join(HOME, 'codebase'));
    for (const query of ['bookOrder', 'nothing at all', 'src/orders.ts'])
      await call(first, 'search_code', { query });
    await call(first, 'set_working_directory', { directory: join(ROOT, 'src') });
    await call(first, 'index_status', {});
    expect(snapshot(join(HOME, 'codebase'))).toEqual(former);
  });
});

it('a second process watches once the first is killed, and a third of --no-watch never', async () => {
  const former = snapshot(join(HOME, 'codebase'));
  const second = await startServer();
  const third = await startServer(['--no-watch']);
  expect(await untilWatch(second, 'elsewhere')).toEqual({ state: 'elsewhere' });
  expect(await watchOf(third)).toEqual({ state: 'elsewhere' });
  expect(snapshot(join(HOME, 'codebase'))).toEqual(former);
  kill(first.pid, 'SIGKILL');
  writeIn(ROOT, 'src/late.ts', define('writtenMeanwhile'));
  await untilWatch(second, 'on');
  await untilFound(second, 'writtenMeanwhile', ['src/late.ts']);
  writeIn(ROOT, 'src/late.ts', define('writtenLater'));
  await untilFound(third, 'writtenLater', ['src/late.ts']);
  kill(second.pid, 'SIGKILL');
  const off = await untilWatch(third, 'off');
  expect(off).toMatchObject({ state: 'off', reason: 'DISABLED' });
  writeIn(ROOT, 'src/late.ts', define('writtenUnseen'));
  const { structured } = await call(third, 'search_code', { query: 'writtenLater' });
  expect(listAt(structured, 'results')[0]).toMatchObject({ state: 'stale' });
});

it('watching does not keep the process running once its client is gone', async () => {
  const child = spawn(process.execPath, [CODEBASE_MAIN, '--home', HOME], {
    cwd: ROOT,
    env: cleanEnv(),
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  const observer = await startServer(['--no-watch']);
  await untilWatch(observer, 'elsewhere');
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
  writeFileSync(join(ROOT, 'src/last.ts'), define('lastOne'));
});
