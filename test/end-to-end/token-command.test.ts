import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runAssay } from '../support/commands.ts';
import { at, listAt, parseJson, textAt } from '../support/json.ts';
import { tempDir } from '../support/paths.ts';
import { createToken } from '../support/tokens.ts';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';
import { DEFAULT_TOKEN_LIFETIME } from '@assay-mcp/kit/token-lifetimes';
import { parseLifetimeMs } from '../../packages/gateway/src/core/token.ts';

const TOKEN = /^assay_[0-9a-f]{12}_[0-9A-Za-z]{43}$/;
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

function tokenCommands(home: string): (...args: readonly string[]) => ReturnType<typeof runAssay> {
  return (...args) => runAssay(['token', ...args, '--home', home]);
}

describe('assay token create', () => {
  it('prints only the token on stdout, and explanations on stderr', async () => {
    const { code, stdout, stderr } = await tokenCommands(tempDir())('create', 'ci');
    expect(code).toBe(0);
    expect(stdout.trim()).toMatch(TOKEN);
    expect(stdout.endsWith('\n')).toBe(true);
    expect(stderr).toContain('"ci"');
    expect(stderr).toContain('mcp');
    expect(stderr).not.toContain(stdout.trim());
  });

  it('--json prints the token with everything stored about it except its hash', async () => {
    const { stdout } = await tokenCommands(tempDir())(
      ...['create', 'ci', '--scopes', 'mcp,read', '--expires', '30d', '--json'],
    );
    const made = parseJson(stdout);
    const token = String(at(made, 'token'));
    expect(token).toMatch(TOKEN);
    expect(made).toEqual({
      token,
      id: token.split('_')[1],
      name: 'ci',
      scopes: ['read', 'mcp'],
      state: 'valid',
      createdAt: TIME,
      expiresAt: TIME,
      revokedAt: null,
    });
    const days =
      (Date.parse(String(at(made, 'expiresAt'))) - Date.parse(String(at(made, 'createdAt')))) / 86_400_000;
    expect(days).toBe(30);
  });

  it('proposes the lifetime of the pages', async () => {
    const made = parseJson((await tokenCommands(tempDir())('create', 'ci', '--json')).stdout);
    const lifetimeMs = Date.parse(textAt(made, 'expiresAt')) - Date.parse(textAt(made, 'createdAt'));
    expect(parseLifetimeMs(DEFAULT_TOKEN_LIFETIME)).toEqual({ ok: true, value: lifetimeMs });
  });

  it('refuses a name in use until its token is revoked', async () => {
    const token = tokenCommands(tempDir());
    await token('create', 'ci');
    const again = await token('create', 'ci');
    expect([again.code, again.stdout]).toEqual([2, '']);
    expect(again.stderr).toContain('"ci"');
    await token('revoke', 'ci');
    expect((await token('create', 'ci')).code).toBe(0);
  });
});

describe('assay token', () => {
  const home = tempDir();

  it.each([
    ['an empty name', ['create', '']],
    ['a name with a line break', ['create', 'a\nb']],
    ['the reserved name "local"', ['create', 'local']],
    ['an unknown scope', ['create', 'ci', '--scopes', 'write']],
    ['an invalid lifetime', ['create', 'ci', '--expires', 'soon']],
    ['a missing name', ['create']],
    ['an unknown command', ['renew', 'ci']],
  ])('refuses %s with code 2, a message and nothing on stdout', async (_what, args) => {
    const { code, stdout, stderr } = await tokenCommands(home)(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).not.toBe('');
    expect(stderr).not.toMatch(/at .*\.js:\d+/);
  });

  it('creates nothing if it refuses', async () => {
    const listed = await tokenCommands(home)('list', '--json');
    expect([listed.code, parseJson(listed.stdout)]).toEqual([0, { tokens: [] }]);
    expect(listed.stderr).toContain('assay token create');
  });
});

describe('assay token list', () => {
  it('shows valid and revoked tokens without their secrets', async () => {
    const home = tempDir();
    const token = tokenCommands(home);
    const valid = await createToken(home, 'ci', '--scopes', 'admin', '--expires', 'never');
    const gone = await createToken(home, 'old');
    await token('revoke', 'old');
    const { code, stdout } = await token('list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/ci +[0-9a-f]{12} +valid +\S+ +never +admin/);
    expect(stdout).toMatch(/old +[0-9a-f]{12} +revoked +\S+ +\S+Z +mcp/);
    const listed = await token('list', '--json');
    const tokens = listAt(parseJson(listed.stdout), 'tokens');
    expect([...tokens].sort((a, b) => String(at(a, 'name')).localeCompare(String(at(b, 'name'))))).toEqual([
      {
        id: valid.split('_')[1],
        name: 'ci',
        scopes: ['admin'],
        state: 'valid',
        createdAt: TIME,
        expiresAt: null,
        revokedAt: null,
      },
      {
        id: gone.split('_')[1],
        name: 'old',
        scopes: ['mcp'],
        state: 'revoked',
        createdAt: TIME,
        expiresAt: TIME,
        revokedAt: TIME,
      },
    ]);
    for (const text of [stdout, listed.stdout]) expect(text).not.toMatch(/[0-9A-Za-z]{43}/);
  });
});

describe('assay token list with a store of an earlier build', () => {
  it('says where the store was set aside, also in a command without a log', async () => {
    const home = tempDir();
    await createToken(home, 'ci');
    const store = openDatabase(join(home, 'assay.db'), { mode: 'write' });
    store.exec('alter table assay_migrations drop column edition');
    store.close();
    const { code, stdout, stderr } = await tokenCommands(home)('list', '--json');
    expect([code, parseJson(stdout)]).toEqual([0, { tokens: [] }]);
    expect(stderr).toContain('an earlier build of Assay created assay.db');
    expect(stderr).toMatch(/assay\.db\.\d{4}-\d\d-\d\d/);
  });
});

describe('assay token revoke', () => {
  it('accepts a name or an id, and reports which token was revoked', async () => {
    const home = tempDir();
    const token = tokenCommands(home);
    const id = (await createToken(home, 'one')).split('_')[1] ?? '';
    await createToken(home, 'two');
    const byId = await token('revoke', id);
    expect([byId.code, byId.stdout]).toEqual([0, `Revoked "one" (id ${id}).\n`]);
    const byName = await token('revoke', 'two', '--json');
    expect([byName.code, at(parseJson(byName.stdout), 'state')]).toEqual([0, 'revoked']);
  });

  it('refuses an unknown or revoked token with code 2, and says how to list tokens', async () => {
    const home = tempDir();
    const token = tokenCommands(home);
    await createToken(home, 'ci');
    await token('revoke', 'ci');
    for (const what of ['ci', 'nobody', '0123456789ab']) {
      const { code, stdout, stderr } = await token('revoke', what);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('assay token list');
    }
  });
});
