// The service in this process, with a home and repositories of its own.
import { realpathSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { endLater, until } from '../../../test/support/endings.ts';
import { tempDir } from '../../../test/support/paths.ts';
import { FolderAccess } from '../src/access/folder-access.ts';
import { ToldRoots } from '../src/access/told-roots.ts';
import { Codebase } from '../src/codebase.ts';
import { ProjectFolders } from '../src/projects/project-folders.ts';
import { DEFAULT_PROJECT } from '../src/projects/project-id.ts';
import { readSettings } from '../src/settings.ts';
import { WatchService, type WatchServiceOptions } from '../src/watch/watch-service.ts';
import { formatWatchState, type WatchState } from '../src/watch/watch-state.ts';
import { writeIn } from './hint-checks.ts';

interface Scene {
  readonly service: WatchService;
  readonly codebase: Codebase;
  /** Makes and indexes a repository with a folder for each name. Returns its path and id. */
  readonly add: (names: readonly string[]) => Promise<{ readonly path: string; readonly id: string }>;
  readonly untilState: (path: string, state: WatchState['state']) => Promise<WatchState>;
}

function openScene(more: Partial<WatchServiceOptions> = {}, roots = [tmpdir()]): Scene {
  const home = tempDir();
  const settings = readSettings({ ASSAY_CODEBASE_THREADS: '1' });
  if (!settings.ok) throw new Error(settings.error.problem);
  const folders = new ProjectFolders(home);
  const codebase = new Codebase({ folders, settings: settings.value });
  const access = new FolderAccess({
    ...{ roots, cwd: tmpdir(), userHome: tempDir(), own: [home], told: new ToldRoots(home) },
    calledAs: 'assay codebase',
  });
  const service = new WatchService({ codebase, folders, access, intervalMs: 50, ...more });
  endLater(async () => {
    service.close();
    await codebase.close();
  });
  const add: Scene['add'] = async (names) => {
    const path = join(realpathSync(tempDir()), 'repository');
    for (const name of names) writeIn(path, join(name, 'a.ts'), `export const name = '${name}';\n`);
    const { signal } = new AbortController();
    const request = { path, protectedPaths: [], force: false, signal, report: () => undefined };
    const report = await codebase.index(DEFAULT_PROJECT, request);
    if (!report.ok) throw new Error(report.error.message);
    await service.refresh();
    return { path, id: report.value.repository_id };
  };
  const untilState: Scene['untilState'] = (path, state) =>
    until(`the watch is ${state}`, () => {
      const now = service.stateOf(DEFAULT_PROJECT, path);
      return now.state === state ? now : undefined;
    });
  return { service, codebase, add, untilState };
}

it('a repository with more folders than may be watched is not watched, and its state says what to do', async () => {
  const { add, untilState } = openScene({ maxFolders: 5 });
  const small = await add(['a', 'b']);
  expect(await untilState(small.path, 'on')).toMatchObject({ state: 'on', folders: 3 });
  const large = await add(['a', 'b']);
  const off = await untilState(large.path, 'off');
  expect(off).toMatchObject({ reason: 'TOO_MANY_FOLDERS' });
  expect(formatWatchState(off)).toBe(
    'Not watched: one process watches at most 20000 folders. A .mcpignore leaves out what need not be searched. ' +
      'Results are only compared by size and modification time: one whose file has changed has the state "stale". Call index_repository to update the index.',
  );
});

it('folders that git would ignore are not watched, and new ones are', async () => {
  const { add, untilState, service } = openScene();
  const { path } = await add(['src', 'node_modules/x']);
  expect(await untilState(path, 'on')).toMatchObject({ folders: 2 });
  writeIn(path, 'src/new/a.ts', 'export const added = 1;\n');
  await until('the new folder is watched', () => {
    const state = service.stateOf(DEFAULT_PROJECT, path);
    return state.state === 'on' && state.folders === 3 ? true : undefined;
  });
});

it('a repository that is moved away is no longer watched, and is again once it is back', async () => {
  const { add, untilState, codebase } = openScene();
  const { path } = await add(['src']);
  await untilState(path, 'on');
  renameSync(path, `${path}-away`);
  await untilState(path, 'starting');
  expect(codebase.repositories(DEFAULT_PROJECT)).toMatchObject({ value: [{ path }] });
  renameSync(`${path}-away`, path);
  await untilState(path, 'on');
});

it('a repository outside of the folders that a server may use is not watched', async () => {
  const { add, service } = openScene({}, [tempDir()]);
  const { path } = await add(['src']);
  expect(service.stateOf(DEFAULT_PROJECT, path)).toEqual({ state: 'starting' });
});

it('files that are ignored cause no update after the first', async () => {
  const updates: (readonly string[])[] = [];
  const { add, untilState, codebase } = openScene();
  const { path } = await add(['src']);
  writeIn(path, '.gitignore', '*.log\n');
  await untilState(path, 'on');
  const update = codebase.update.bind(codebase);
  codebase.update = async (project, request) => {
    const outcome = await update(project, request);
    updates.push(request.changedPaths);
    return outcome;
  };
  writeIn(path, 'src/x.log', 'one');
  await until('an update looked at it', () => (updates.flat().includes('src/x.log') ? true : undefined));
  writeIn(path, 'src/x.log', 'two');
  writeIn(path, 'src/b.ts', 'export const b = 1;\n');
  await until('an update looked at the other', () =>
    updates.flat().includes('src/b.ts') ? true : undefined,
  );
  expect(updates.flat().filter((one) => one === 'src/x.log')).toHaveLength(1);
  rmSync(join(path, 'src/b.ts'));
});
