// Resolving the project of a call, with real folders and files, but without a server or an index.
import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { FolderAccess } from '../src/access/folder-access.ts';
import { ToldRoots } from '../src/access/told-roots.ts';
import { ProjectConfigs } from '../src/projects/project-config.ts';
import { ProjectFolders } from '../src/projects/project-folders.ts';
import { parseProjectId, computeProjectId } from '../src/projects/project-id.ts';
import {
  resolveProjectToIndex,
  resolveProjectToRead,
  type ProjectSources,
} from '../src/projects/resolve-project.ts';
import { tempDir } from '../../../test/support/paths.ts';

const CONFIG = { version: '1.0', project: { name: 'My App', id: 'my-app' } };

/** A folder with a config file, and its path. */
function withConfig(
  content: unknown,
  folder = tempDir(),
): { readonly folder: string; readonly path: string } {
  const path = join(folder, '.codebase-mcp', 'config.json');
  mkdirSync(join(folder, '.codebase-mcp'), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return { folder, path };
}

/** Sources with an index for each of these projects. */
function sourcesWith(projects: readonly string[], directory?: string): ProjectSources {
  const home = tempDir();
  for (const project of projects) {
    mkdirSync(join(home, 'codebase', project), { recursive: true });
    writeFileSync(join(home, 'codebase', project, 'index.db'), '');
  }
  const access = new FolderAccess({
    ...{ roots: ['/'], cwd: home, userHome: home, own: [], told: new ToldRoots(home) },
    calledAs: 'assay codebase',
  });
  return { folders: new ProjectFolders(home), configs: new ProjectConfigs(), access, directory };
}

it('a project id is lowercase words joined by single hyphens', () => {
  for (const good of ['a', '1', 'my-app', 'a-b-c', 'a'.repeat(50)]) expect(parseProjectId(good)).toBe(good);
  const bad = [
    '',
    '-a',
    'a-',
    'a--b',
    'A_b',
    'a b',
    'a'.repeat(51),
    '../x',
    "'; DROP TABLE files; --",
    'ä',
    'a\n',
  ];
  for (const text of bad) expect(parseProjectId(text)).toBeUndefined();
});

it('a name becomes a valid id, unique per folder', () => {
  for (const name of ['My App', '日本語', '--', 'x'.repeat(200), '../../etc']) {
    expect(parseProjectId(computeProjectId(name, '/a'))).toBeDefined();
    expect(computeProjectId(name, '/a')).not.toBe(computeProjectId(name, '/b'));
  }
  expect(computeProjectId('My App', '/a')).toMatch(/^my-app-[0-9a-f]{8}$/);
});

it.each([
  ['invalid JSON', '{', 'it is not a JSON object'],
  ['an array', [], 'it is not a JSON object'],
  ['no version', { project: { name: 'a' } }, '"version" must be a string such as "1.0"'],
  ['a version that is a number', { ...CONFIG, version: 1 }, '"version" must be a string such as "1.0"'],
  ['no project', { version: '1.0' }, '"project" must be an object'],
  ['no name', { version: '1.0', project: {} }, '"project.name" must be a string of 1 to 200 characters'],
  ['an id that is a path', { version: '1.0', project: { name: 'a', id: '../a' } }, /^"project\.id" must be/],
  ['more than 64 KiB', ' '.repeat(65_537), 'it is larger than 65536 bytes'],
])('a config file with %s is found but invalid', async (_, content, reason) => {
  const { folder, path } = withConfig(content);
  const config = await new ProjectConfigs().find(folder);
  expect(config).toEqual({
    path,
    project: { ok: false, error: typeof reason === 'string' ? reason : expect.stringMatching(reason) },
  });
});

it('a config file that is a FIFO or a directory is invalid, and does not block', async () => {
  const folder = tempDir();
  mkdirSync(join(folder, '.codebase-mcp', 'config.json'), { recursive: true });
  const inside = join(folder, 'inside');
  mkdirSync(join(inside, '.codebase-mcp'), { recursive: true });
  execFileSync('mkfifo', [join(inside, '.codebase-mcp', 'config.json')]);
  for (const place of [folder, inside])
    expect((await new ProjectConfigs().find(place))?.project).toEqual({
      ok: false,
      error: 'it is not a file',
    });
});

it('a config file behind a link counts as absent, unless it is a file that may be read', async () => {
  const [root, outside] = [realpathSync(tempDir()), withConfig(CONFIG)];
  const shared = withConfig(CONFIG, join(root, 'shared'));
  const keys = join(root, '.ssh');
  mkdirSync(keys);
  writeFileSync(join(keys, 'config.json'), JSON.stringify(CONFIG));
  const configs = new ProjectConfigs();
  const foundVia = async (name: string, plant: (folder: string) => void): Promise<string | undefined> => {
    const folder = join(root, name);
    mkdirSync(folder);
    plant(folder);
    return (await configs.find(folder, { roots: [root], protectedPaths: [] }))?.path;
  };
  const linkFile =
    (target: string) =>
    (folder: string): void => {
      mkdirSync(join(folder, '.codebase-mcp'));
      symlinkSync(target, join(folder, '.codebase-mcp', 'config.json'));
    };
  const linkFolder =
    (target: string) =>
    (folder: string): void =>
      symlinkSync(target, join(folder, '.codebase-mcp'));
  expect(await foundVia('a', linkFile(outside.path))).toBeUndefined();
  expect(await foundVia('b', linkFolder(dirname(outside.path)))).toBeUndefined();
  expect(await foundVia('c', linkFile(join(keys, 'config.json')))).toBeUndefined();
  expect(await foundVia('d', linkFolder(keys))).toBeUndefined();
  expect(await foundVia('e', linkFile('/dev/zero'))).toBeUndefined();
  expect(await foundVia('f', linkFile(shared.path))).toBe(join(root, 'f', '.codebase-mcp', 'config.json'));
});

it('the nearest config file applies, at most 20 levels up, with symbolic links resolved', async () => {
  const { folder, path } = withConfig(CONFIG);
  const levels = (count: number): string => join(folder, ...Array.from({ length: count }, () => 'd'));
  mkdirSync(levels(21), { recursive: true });
  const configs = new ProjectConfigs();
  expect((await configs.find(levels(19)))?.path).toBe(path);
  expect(await configs.find(levels(20))).toBeUndefined();
  const link = join(tempDir(), 'link');
  symlinkSync(levels(1), link);
  expect((await configs.find(link))?.path).toBe(path);
  const nearer = withConfig({ version: '1.0', project: { name: 'near' } }, levels(3));
  expect((await configs.find(levels(4)))?.path).toBe(nearer.path);
});

it('an edited config file is read again', async () => {
  const { folder, path } = withConfig(CONFIG);
  const configs = new ProjectConfigs();
  const nameNow = async (): Promise<unknown> => (await configs.find(folder))?.project;
  expect(await nameNow()).toMatchObject({ value: { name: 'My App' } });
  writeFileSync(path, JSON.stringify(CONFIG).replace('My App', 'My Api'));
  expect(await nameNow()).toMatchObject({ value: { name: 'My Api' } });
  writeFileSync(path, '{');
  expect(await nameNow()).toMatchObject({ ok: false });
  rmSync(path);
  expect(await nameNow()).toBeUndefined();
});

it('a given id takes precedence over the config file, which takes precedence over the default', async () => {
  const { folder } = withConfig(CONFIG);
  const sources = sourcesWith(['other'], folder);
  expect(await resolveProjectToRead('other', sources)).toMatchObject({
    value: { id: 'other', origin: 'project_id' },
  });
  expect(await resolveProjectToRead(undefined, sources)).toMatchObject({
    value: { id: 'my-app', origin: 'config' },
  });
  expect(await resolveProjectToRead('my-app', sources)).toMatchObject({
    value: { id: 'my-app', origin: 'project_id' },
  });
  const elsewhere = sourcesWith([], tempDir());
  expect(await resolveProjectToRead(undefined, elsewhere)).toMatchObject({
    value: { id: 'default', origin: 'default' },
  });
});

it('an unknown id is an error, and never resolves to another project', async () => {
  const { folder } = withConfig(CONFIG);
  const sources = sourcesWith(['my-api', 'default'], folder);
  expect(await resolveProjectToRead('my-ape', sources)).toMatchObject({
    ok: false,
    error: { code: 'NOT_FOUND', field: 'project_id', remedy: expect.stringContaining('"my-api"') as string },
  });
  expect(await resolveProjectToRead("'; DROP", sources)).toMatchObject({
    error: { code: 'VALIDATION_ERROR' },
  });
  expect(await resolveProjectToRead('', sources)).toMatchObject({ error: { code: 'VALIDATION_ERROR' } });
  // Only indexing creates a project.
  expect(await resolveProjectToIndex('my-ape', sources)).toMatchObject({ value: { id: 'my-ape' } });
  expect(await resolveProjectToIndex('../x', sources)).toMatchObject({ error: { code: 'VALIDATION_ERROR' } });
});

it('an invalid config file or a missing directory does not fall back to the default project', async () => {
  const { folder } = withConfig('{');
  expect(await resolveProjectToRead(undefined, sourcesWith(['default'], folder))).toMatchObject({
    error: { code: 'VALIDATION_ERROR', message: expect.stringContaining('config.json') as string },
  });
  const lost = join(tempDir(), 'lost');
  expect(await resolveProjectToRead(undefined, sourcesWith(['default'], lost))).toMatchObject({
    error: { code: 'NOT_FOUND' },
  });
});

it('an unreadable config file is invalid', async () => {
  const folder = tempDir();
  const path = join(folder, '.codebase-mcp', 'config.json');
  mkdirSync(join(folder, '.codebase-mcp'));
  symlinkSync(path, path);
  expect((await new ProjectConfigs().find(folder))?.project).toEqual({
    ok: false,
    error: 'it cannot be read (ELOOP)',
  });
});
