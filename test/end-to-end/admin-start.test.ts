import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adminClient, verdictOf } from '../support/admin.ts';
import { startAssay, type Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, namesAt, parseJson } from '../support/json.ts';
import { tempDir, writeConfig } from '../support/paths.ts';
import { keepToken, revokeToken } from '../support/tokens.ts';
import { untilLogged } from '../support/endings.ts';

const fileIn = (home: string): string => join(home, 'admin-token');
const tokenIn = (home: string): string => readFileSync(fileIn(home), 'utf8').trim();
const verdict = async (assay: Gateway, token: string): Promise<string> =>
  verdictOf(await adminClient(assay, token).get('/tokens'));

describe('the first start', () => {
  it('creates a token for the REST API, and prints where it is but not its value', async () => {
    const home = tempDir();
    const assay = await startAssay({ servers: {}, home, env: { ASSAY_LOG_LEVEL: 'trace' } });
    const token = tokenIn(home);
    expect(statSync(fileIn(home)).mode & 0o777).toBe(0o600);
    const tokens = (await adminClient(assay, token).get('/tokens')).json();
    expect(listAt(tokens, 'tokens')).toMatchObject([{ name: 'admin', scopes: ['admin'], expiresAt: null }]);
    expect(assay.stdout()).toContain(`with the token in ${fileIn(home)}`);
    await assay.stop();
    expect(assay.stdout() + assay.stderr()).not.toContain(token.slice(-43));
  });

  it('is the only one that does', async () => {
    const home = tempDir();
    await (await startGateway({ servers: {}, home })).stop();
    const token = tokenIn(home);
    chmodSync(fileIn(home), 0o644);
    const assay = await startAssay({ servers: {}, home });
    expect(tokenIn(home)).toBe(token);
    expect(statSync(fileIn(home)).mode & 0o777).toBe(0o600);
    await untilLogged(assay, 'other users could read files with secrets in the home folder');
    await untilLogged(assay, 'admin-token (mode 644)');
    expect(namesAt((await adminClient(assay, token).get('/tokens')).json(), 'tokens')).toEqual(['admin']);
    expect(assay.stdout()).toContain(fileIn(home));
  });

  it('creates one again once no token has the admin scope, whatever uses the name', async () => {
    const home = tempDir();
    await (await startGateway({ servers: {}, home })).stop();
    const former = tokenIn(home);
    await revokeToken(home, 'admin');
    await keepToken(home, 'admin', { scopes: ['mcp'] });
    const assay = await startGateway({ servers: {}, home });
    expect(await verdict(assay, former)).toBe('401 TOKEN_REQUIRED');
    expect(await verdict(assay, tokenIn(home))).toBe('200');
    expect(at((await adminClient(assay, tokenIn(home)).get('/tokens')).json(), 'tokens', 2, 'name')).toBe(
      'admin-2',
    );
  });

  it('creates none if somebody has one already, and names no file without one', async () => {
    const home = tempDir();
    await keepToken(home, 'anna', { scopes: ['admin'] });
    writeFileSync(fileIn(home), 'assay_nothing');
    const assay = await startAssay({ servers: {}, home });
    expect(tokenIn(home)).toBe('assay_nothing');
    expect(assay.stdout()).not.toContain('admin-token');
    expect(assay.stdout()).toContain('assay token create NAME --scopes admin');
  });

  it('creates none with ASSAY_TOKEN, which opens the REST API', async () => {
    const home = tempDir();
    const operator = 'operator-token-of-some-length';
    const assay = await startGateway({ servers: {}, home, env: { ASSAY_TOKEN: operator } });
    expect(existsSync(fileIn(home))).toBe(false);
    expect(await verdict(assay, operator)).toBe('200');
  });

  it('creates none beyond loopback, and is refused there', async () => {
    const home = tempDir();
    const args = ['serve', '--config', writeConfig({}), '--host', '0.0.0.0', '--port', '0', '--home', home];
    expect((await runAssay(args)).code).toBe(3);
    expect(existsSync(fileIn(home))).toBe(false);
  });

  it('of two concurrent processes leaves one token, and a file that holds it', async () => {
    const home = tempDir();
    const [one, other] = await Promise.all([
      startGateway({ servers: {}, home }),
      startGateway({ servers: {}, home }),
    ]);
    const token = tokenIn(home);
    expect(await verdict(one, token)).toBe('200');
    expect(await verdict(other, token)).toBe('200');
    expect(namesAt((await adminClient(one, token).get('/tokens')).json(), 'tokens')).toEqual(['admin']);
  });
});

describe('a start that cannot write the file', () => {
  it('continues, says so, and leaves no token that nobody has', async () => {
    const home = tempDir();
    mkdirSync(fileIn(home));
    const assay = await startGateway({ servers: {}, home });
    await untilLogged(assay, 'no token for the REST API could be made');
    const listed = await runAssay(['token', 'list', '--json', '--home', home]);
    expect(listAt(parseJson(listed.stdout), 'tokens')).toMatchObject([{ name: 'admin', state: 'revoked' }]);
  });
});
