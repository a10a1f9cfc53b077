import { existsSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ToldRoots } from '../src/access/told-roots.ts';
import { type CodebaseProgram, openCodebase } from '../src/open-codebase.ts';
import { IndexLock } from '../src/store/index-lock.ts';
import { endLater } from '../../../test/support/endings.ts';
import { at, listAt, textAt, type Json, type JsonObject } from '../../../test/support/json.ts';
import { tempDir } from '../../../test/support/paths.ts';
import { newRepository, writeIn } from './hint-checks.ts';

const STEADY = { signal: new AbortController().signal, report: () => undefined };

let home: string;
let program: CodebaseProgram;
beforeEach(() => {
  home = tempDir();
  const cwd = tempDir();
  const place = { home, env: {}, cwd, userHome: tempDir(), configPath: join(home, 'mcp.json') };
  const opened = openCodebase({ ...place, roots: undefined, calledAs: 'assay codebase' });
  if (!opened.ok) throw new Error(opened.error.message);
  program = opened.value;
  endLater(() => program.close());
});

async function call(tool: string, args: JsonObject): Promise<{ structured: Json; text: string }> {
  const answer = await program.call(tool, args, STEADY);
  if (!answer.ok) throw new Error(answer.error.message);
  return { structured: answer.value.structured as Json, text: answer.value.text };
}
const index = (repo_path: string, project_id = 'shop') => call('index_repository', { repo_path, project_id });
const remove = (path: string, project = 'shop') => program.remove({ path, project }, STEADY);
const told = () => new ToldRoots(home).read();

async function pathsFound(query: string): Promise<readonly unknown[]> {
  const { structured } = await call('search_code', { query, project_id: 'shop' });
  return listAt(structured, 'results').map((one) => at(one, 'file_path'));
}

describe('a repository that was moved', () => {
  it('is marked by index_status, and leaves the index with its right to be used', async () => {
    const [kept, moved] = [newRepository(), realpathSync(tempDir())];
    writeIn(moved, 'moved.ts', 'export const movedAway = 1;\n');
    await index(kept);
    const { structured: indexed } = await index(moved);
    renameSync(moved, `${moved}-2`);

    const { structured, text } = await call('index_status', { project_id: 'shop' });
    const marks = listAt(structured, 'repositories').map((one) => [at(one, 'path'), at(one, 'is_missing')]);
    expect(marks.toSorted()).toEqual(
      [
        [kept, false],
        [moved, true],
      ].toSorted(),
    );
    expect(text).toContain(
      `It is gone; the operator removes it from the index with \`assay codebase remove "${moved}"\`.`,
    );
    expect(await pathsFound('movedAway')).toEqual(['moved.ts']);
    expect((await call('search_code', { query: 'movedAway', project_id: 'shop' })).text).toContain(
      `The directory ${JSON.stringify(moved)} does not exist any more`,
    );

    expect(await remove(moved)).toEqual({
      ok: true,
      value: {
        project_id: 'shop',
        repository_id: textAt(indexed, 'repository_id'),
        ...{ path: moved, files: 1, withdrawn: true },
      },
    });
    expect(await pathsFound('movedAway')).toEqual([]);
    expect(await pathsFound('bookRefund')).toEqual(['refunds.ts']);
    expect(await told()).toEqual([kept]);
    const after = await call('index_status', { project_id: 'shop' });
    expect(listAt(after.structured, 'repositories')).toMatchObject([{ path: kept, files: 3 }]);
  });
});

it('the last repository of a project takes the index with it, and nothing of the repository', async () => {
  const repo = newRepository();
  await index(repo);
  expect(await remove(`${repo}/`)).toMatchObject({ ok: true, value: { files: 3, withdrawn: true } });
  expect(existsSync(join(home, 'codebase', 'shop', 'index.db'))).toBe(false);
  expect(existsSync(join(repo, 'refunds.ts'))).toBe(true);
  expect(await index(repo)).toMatchObject({ structured: { files_indexed: 3 } });
});

it('a folder that another project has indexed stays usable', async () => {
  const repo = newRepository();
  await index(repo);
  await index(repo, 'other');
  expect(await remove(repo)).toMatchObject({ ok: true, value: { withdrawn: false } });
  expect(await told()).toEqual([repo]);
});

it('what is not indexed is refused with what is', async () => {
  const repo = newRepository();
  await index(repo);
  await index(newRepository(), 'other');
  const elsewhere = await remove(repo, 'other');
  expect(elsewhere).toMatchObject({
    error: {
      ...{ code: 'NOT_FOUND', field: 'repo_path' },
      message: `${JSON.stringify(repo)} is not indexed in project other.`,
      remedy: 'It is in project shop: pass --project shop.',
    },
  });
  expect(await remove('/nowhere')).toMatchObject({
    error: { remedy: `Pass one of its repositories: ${JSON.stringify(repo)}.` },
  });
  expect(await remove(repo, 'default')).toMatchObject({
    error: { code: 'NOT_FOUND', remedy: 'It is in project shop: pass --project shop.' },
  });
  expect(await remove(repo, 'none')).toMatchObject({ error: { code: 'NOT_FOUND', field: 'project_id' } });
  expect(await pathsFound('bookRefund')).toEqual(['refunds.ts']);
});

it('waits while another process writes the index, until it is cancelled', async () => {
  const repo = newRepository();
  await index(repo);
  const lock = IndexLock.tryAcquire(join(home, 'codebase', 'shop'));
  if (!lock.ok || lock.value === undefined) throw new Error('The lock is not free.');
  const stopping = new AbortController();
  const waits: string[] = [];
  const report = ({ message }: { readonly message: string }): void => {
    waits.push(message);
    stopping.abort();
  };
  const context = { signal: stopping.signal, report };
  expect(await program.remove({ path: repo, project: 'shop' }, context)).toMatchObject({
    error: { code: 'CANCELLED' },
  });
  lock.value.release();
  expect(waits).toEqual(['Waiting for another run']);
  rmSync(repo, { recursive: true });
  expect(await remove(repo)).toMatchObject({ ok: true });
});
