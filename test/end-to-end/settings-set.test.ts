// `assay settings set` and `unset`, and the REST API of a gateway on the same home.
import { beforeAll, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, parseJson, type Json } from '../support/json.ts';
import { tempDir, writeConfig } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

const home = tempDir();
const config = writeConfig({}, { settings: { 'notes.review': 'always' } });
let admin: AdminClient;
beforeAll(async () => {
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  const assay = await startGateway({ home, config });
  admin = adminClient(assay, token);
});

const run = (...args: readonly string[]): ReturnType<typeof runAssay> =>
  runAssay(['settings', ...args, '--home', home, '--config', config]);
const preference = async (key: string): Promise<Json | undefined> =>
  listAt((await admin.get('/preferences')).json(), 'preferences').find((one) => at(one, 'key') === key);

it('a value is stored, audited, shown as stored, and deleted', async () => {
  expect(await run('set', 'limits.drainMs', '5000')).toEqual({
    ...{ code: 0, stderr: '' },
    stdout: 'limits.drainMs is now "5000". It takes effect at the next start of Assay.\n',
  });
  expect(await preference('limits.drainMs')).toMatchObject({
    ...{ value: 5_000, running: 10_000, origin: 'store' },
  });
  const [change] = listAt((await admin.get('/activity')).json(), 'activity');
  expect(change).toMatchObject({ action: 'preference.update', subject: 'local', after: 5_000 });
  const listed = listAt(parseJson((await run('--json')).stdout), 'settings');
  expect(listed.find((one) => at(one, 'key') === 'limits.drainMs')).toMatchObject({ origin: 'store' });
  const unset = await run('unset', 'limits.drainMs', '--json');
  expect(parseJson(unset.stdout)).toMatchObject({
    ...{ key: 'limits.drainMs', value: 10_000, origin: 'default', takesEffect: 'next start' },
  });
  expect(await preference('limits.drainMs')).toMatchObject({ value: 10_000, origin: 'default' });
});

it('a policy setting is in effect at once in the running gateway', async () => {
  expect((await run('set', 'policy.confirm', 'never')).stdout).toBe(
    'policy.confirm is now "never". It is in effect.\n',
  );
  expect(await preference('policy.confirm')).toMatchObject({ running: 'never', takesEffect: 'now' });
});

it.each([
  ['auth.issuer', 'https://issuer.example', 'SETTING_READ_ONLY'],
  ['notes.review', 'never', 'SETTING_OVERRIDDEN'],
])('%s is refused in the same words by the command and by REST: %s, %s', async (key, value, code) => {
  const refused = await admin.put('/preferences', { [key]: value });
  expect(verdictOf(refused)).toMatch(code);
  expect(at(refused.json(), 'errors', 0, 'pointer')).toBe(`/${key}`);
  expect(await run('set', key, value)).toMatchObject({
    ...{ code: 3, stdout: '', stderr: `assay: ${String(at(refused.json(), 'detail'))}\n` },
  });
});

it.each([
  [
    ['set', 'limits.drainMs', 'soon'],
    'The setting limits.drainMs is not valid: it must be a whole number from',
  ],
  [
    ['set', 'notes.reviw', 'never'],
    'The arguments are not valid: key: there is no setting "notes.reviw"; did you mean "notes.review".',
  ],
  [['unset', 'x'], 'The arguments are not valid: key: there is no setting "x"; `assay settings` lists them.'],
])('%s is refused with what to do', async (args, sentence) => {
  const { code, stdout, stderr } = await run(...args);
  expect([code === 2 || code === 3, stdout]).toEqual([true, '']);
  expect(stderr).toContain(sentence);
});
