// Which folders the tools may use, as functions and through a server that is connected in memory.
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FolderAccess, type FolderAccessOptions } from '../src/access/folder-access.ts';
import { ToldRoots } from '../src/access/told-roots.ts';
import { readBytes } from '../src/files/read-source.ts';
import { walkRepository } from '../src/files/walk-repository.ts';
import { isSecretFile } from '@assay-mcp/kit/secret-files';
import { at, listAt } from '../../../test/support/json.ts';
import { tempDir } from '../../../test/support/paths.ts';
import { call, index, newRepository, writeIn } from './hint-checks.ts';
import { connected } from './support/connected.ts';

/** A user's home with Assay's home, keys and two projects in it. */
function world(): { readonly user: string; readonly home: string; readonly options: FolderAccessOptions } {
  const user = tempDir();
  const home = join(user, '.assay');
  const files = {
    ...{ '.assay/admin.token': 'assay_admin_token\n', '.assay/notes.txt': 'admin token\n' },
    ...{ '.ssh/known.txt': 'host\n', '.aws/config.txt': 'key\n', '.gnupg/a.txt': 'key\n' },
    ...{ 'shop/main.ts': 'export const shop = 1;\n', 'shop/mcp.json': '{}', 'shop/.mcp.json.1.tmp': '{}' },
    ...{ 'shop/.git/config': 'token\n', 'shop2/main.ts': 'export const other = 1;\n' },
  };
  for (const [path, text] of Object.entries(files)) writeIn(user, path, text);
  const own = [home, join(user, 'shop', 'mcp.json')];
  const roots = [join(user, 'shop')];
  const calledAs = 'assay codebase';
  return {
    ...{ user, home },
    options: { roots, cwd: user, userHome: user, own, told: new ToldRoots(home), calledAs },
  };
}

async function verdict(access: FolderAccess, path: string): Promise<string> {
  const allowed = await access.allowed('repo_path', path);
  if (allowed.ok) return `ok ${allowed.value}`;
  return `${allowed.error.code} ${allowed.error.message.replace(JSON.stringify(path), 'X')}`;
}

it('only folders inside the roots are allowed, by their real paths', async () => {
  const { user, options } = world();
  const shop = join(user, 'shop');
  symlinkSync('/etc', join(shop, 'etc'));
  symlinkSync(join(user, '.assay'), join(shop, 'assay'));
  symlinkSync(shop, join(user, 'to-shop'));
  const access = new FolderAccess(options);
  const outside = `ACCESS_DENIED X is outside of the folders that this server may use (${JSON.stringify(shop)}).`;
  for (const path of [
    '/',
    '/etc',
    user,
    `${shop}2`,
    join(shop, 'etc'),
    `${shop}/../shop2`,
    '/no/such/folder',
  ])
    expect([path, await verdict(access, path)]).toEqual([path, outside]);
  for (const path of [
    '/proc/self',
    '/sys',
    '/dev/shm',
    join(user, '.assay'),
    join(shop, 'assay'),
    join(shop, '.git'),
  ])
    expect([path, await verdict(access, path)]).toEqual([path, expect.stringContaining('never indexed')]);
  expect(await verdict(access, join(user, 'to-shop'))).toBe(`ok ${shop}`);
  expect(await verdict(access, join(shop, 'later'))).toBe(`ok ${join(shop, 'later')}`);
});

it('a declared root that becomes a link afterwards allows nothing new', async () => {
  const { user, options } = world();
  const shop = join(user, 'shop');
  const access = new FolderAccess(options);
  await access.current();
  renameSync(shop, join(user, 'moved'));
  symlinkSync('/etc', shop);
  expect(await verdict(access, shop)).toContain('ACCESS_DENIED');
  expect(await verdict(access, '/etc')).toContain('ACCESS_DENIED');
});

it('without roots, the working folder and what a terminal was told are allowed, but no home or / as working folder', async () => {
  const { user, home, options } = world();
  const rootsOf = async (cwd: string): Promise<readonly string[] | undefined> =>
    (await new FolderAccess({ ...options, roots: undefined, cwd }).current()).roots;
  expect(await rootsOf(join(user, 'shop'))).toEqual([join(user, 'shop')]);
  for (const wide of ['/', user, join(user, '..')]) expect(await rootsOf(wide)).toEqual([]);
  const others = Array.from({ length: 8 }, (_, at) => join(user, `told-${at}`));
  await Promise.all(others.map((root) => new ToldRoots(home).add(root)));
  expect((await rootsOf('/'))?.toSorted()).toEqual(others);
  writeFileSync(join(home, 'codebase-roots.json'), 'not JSON');
  expect(await rootsOf('/')).toEqual([]);
  const none = new FolderAccess({ ...options, roots: undefined, cwd: '/' });
  expect(await verdict(none, user)).toContain('may use (none so far)');
});

it("Assay's home and config, keys and credentials are left out of a root that contains them, whatever .mcpignore says", async () => {
  const { user, options } = world();
  const secrets = [
    '.env',
    'prod.env',
    'x.pem',
    'id_rsa',
    'id_deploy',
    'credentials.json',
    '.netrc',
    '.npmrc',
  ];
  for (const name of secrets) writeIn(user, join('shop', name), 'secret\n');
  writeIn(user, 'shop/.mcpignore', [...secrets, 'mcp.json'].map((name) => `!${name}`).join('\n'));
  writeIn(user, 'neighbour/.ssh/config', 'Host x\n');
  const { protectedPaths } = await new FolderAccess({ ...options, roots: [user] }).current();
  const { files } = await walkRepository(user, { maxFileBytes: 10_000, protectedPaths });
  expect(files.map(({ path }) => path)).toEqual(['shop/main.ts', 'shop2/main.ts']);
});

it('names of secrets are told from names of code and samples', () => {
  const secret = [
    '.ENV.local',
    'id_ed25519',
    'id_rsa.bak',
    'server.key',
    'client_secret_1.json',
    'Credentials',
  ];
  const plain = [
    '.env.example',
    'example.env',
    'id_rsa.pub',
    'id_map.ts',
    'keys.ts',
    'environment.ts',
    'pem.md',
  ];
  expect([...secret, ...plain].filter(isSecretFile)).toEqual(secret);
});

it('a folder that becomes a link between listing and reading is not followed', () => {
  const { user } = world();
  const path = join(user, 'shop', 'main.ts');
  expect(readBytes(path, 1_000).ok).toBe(true);
  renameSync(join(user, 'shop'), join(user, 'moved'));
  symlinkSync(join(user, 'moved'), join(user, 'shop'));
  expect(readBytes(path, 1_000)).toEqual({ ok: false, reason: 'symlink' });
});

it('an MCP client cannot index the home of Assay, nor search or list what it may not index', async () => {
  const { user, home, options } = world();
  const operator = await connected({ home, access: { ...options, isOperator: true } });
  const [shop, other] = [newRepository(), newRepository()];
  writeIn(other, 'other.ts', 'export const neighbourSecret = 1;\n');
  await index(operator, { repo: shop, project: 'shop' });
  const { repository_id } = (await index(operator, { repo: other, project: 'shop' })) as {
    repository_id: string;
  };
  await index(operator, { repo: other, project: 'other' });
  const peer = await connected({ home, access: { ...options, roots: [shop] } });
  for (const repo_path of [home, user, '/', '/etc', '/proc', other]) {
    const answer = await call(peer, 'index_repository', { repo_path, project_id: 'mine' });
    expect([repo_path, answer.isError, answer.text.split(':')[0]]).toEqual([
      ...[repo_path, true, 'ACCESS_DENIED (repo_path)'],
    ]);
    const set = await call(peer, 'set_working_directory', { directory: repo_path });
    expect(set.text).toMatch(/^ACCESS_DENIED \(directory\)/);
  }
  const search = (query: string, project_id: string, more = {}): ReturnType<typeof call> =>
    call(peer, 'search_code', { query, project_id, ...more });
  const mixed = await search('neighbourSecret', 'shop');
  expect(listAt(mixed.structured, 'results')).toEqual([]);
  expect(JSON.stringify(await search('neighbourSecre', 'shop'))).not.toContain('neighbourSecret');
  expect(at(mixed.structured, 'notes', 0)).toBe(
    'Not searched: 1 indexed folder outside of those that this server may use.',
  );
  expect(listAt((await search('bookRefund', 'shop')).structured, 'results')).toHaveLength(1);
  expect((await search('neighbourSecret', 'shop', { repository_id })).text).toMatch(/^ACCESS_DENIED/);
  expect((await search('neighbourSecret', 'other')).text).toMatch(
    /^ACCESS_DENIED: What is indexed here is outside of .* the operator adds it to "roots"/,
  );
  const status = await call(peer, 'index_status', { project_id: 'shop' });
  expect(listAt(status.structured, 'repositories').map((one) => at(one, 'path'))).toEqual([shop]);
  expect(status.text).not.toContain(other);
});

it('a project config above the roots is not read', async () => {
  const user = tempDir();
  const inner = join(user, 'a', 'b');
  mkdirSync(inner, { recursive: true });
  writeIn(
    user,
    '.codebase-mcp/config.json',
    JSON.stringify({ version: '1.0', project: { name: 'x', id: 'x' } }),
  );
  const peer = await connected({ access: { roots: [join(user, 'a')] } });
  const set = await call(peer, 'set_working_directory', { directory: inner });
  expect(set.structured).toMatchObject({ config_found: false });
  rmSync(join(user, '.codebase-mcp'), { recursive: true });
});
