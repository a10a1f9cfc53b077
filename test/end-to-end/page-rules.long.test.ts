// The editor for policy rules in a real browser, and the effect of rules on calls from a connected client.
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { adminClient, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { connectClient } from '../support/clients.ts';
import { startGateway } from '../support/gateway.ts';
import { at, type Json } from '../support/json.ts';
import { accessibilityFindings, openSignedIn, startBrowser, type SignedInPage } from '../support/pages.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

const home = tempDir();
let assay: Gateway;
let admin: AdminClient;
let signedIn: SignedInPage;
let page: Page;
beforeAll(async () => {
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  await keepToken(home, 'ci-nightly', { scopes: ['mcp'] });
  assay = await startGateway({
    servers: { show: fixture('showcase') },
    settings: {
      policy: {
        rules: [{ effect: 'ask', name: 'from the file', tool: '*.set_*', because: 'The file says so' }],
      },
    },
    home,
  });
  await assay.settled();
  admin = adminClient(assay, token);
  signedIn = await openSignedIn(await startBrowser(), assay);
  ({ page } = signedIn);
  page.setDefaultTimeout(20_000);
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Rules' }).click();
  await rule('from the file').waitFor();
});

const rule = (name: string) =>
  page.getByRole('list', { name: 'Rules' }).getByRole('listitem', { name: `Rule ${name}`, exact: true });
const decision = () => page.getByRole('status', { name: 'Decision' });

async function stored(): Promise<Json | undefined> {
  return at((await admin.get('/policy/rules')).json(), 'rules');
}

async function tryTool(name: string): Promise<void> {
  const field = page.getByRole('combobox', { name: 'Tool', exact: true });
  await field.fill(name);
  await page.getByRole('option', { name, exact: true }).click();
  await decision().waitFor();
}

it('rules from the config file are read-only and show their position in the file', async () => {
  await rule('from the file').getByText('Fixed by policy.rules[0] in the config file.').waitFor();
  expect(await rule('from the file').getByRole('button').count()).toBe(0);
});

it('a new rule applies at once to calls from connected clients and to the preview', async () => {
  const client = await connectClient({ url: assay.url }, 'modern');
  const call = (): Promise<string> =>
    client.callTool({ name: 'show_delete_note', arguments: { path: 'a' } }).then(
      ({ isError }) => (isError === true ? 'error' : 'done'),
      (error: unknown) => String(error),
    );
  expect(await call()).toBe('done');
  await tryTool('show.delete_note');
  await decision().getByText('A person approves every call.').waitFor();
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.getByText('The rule that you are editing applies once it is saved.').waitFor();
  const form = page.getByRole('form', { name: 'Add a rule' });
  await form.getByText('Refuse', { exact: true }).click();
  await form.getByLabel('Tools', { exact: true }).fill('*.delete_*\n\n  *.drop_* ');
  await form.getByLabel('Destructive').selectOption('yes');
  await form.getByLabel('Name', { exact: true }).fill('no deletes');
  await form.getByLabel('Because').fill('Ask Ann first.');
  await form.getByRole('button', { name: 'Add' }).click();
  await rule('no deletes').getByText('*.delete_*, *.drop_*').waitFor();
  await decision().getByText('It is not called.').waitFor();
  await decision()
    .getByText('the operator’s rule')
    .or(decision().getByText('"no deletes"'))
    .first()
    .waitFor();
  expect(await stored()).toEqual([
    {
      effect: 'refuse',
      name: 'no deletes',
      because: 'Ask Ann first.',
      tool: ['*.delete_*', '*.drop_*'],
      hints: { destructiveHint: true },
    },
  ]);
  expect(await call()).toContain('Unknown tool');
});

it('the preview depends on the caller', async () => {
  const form = page.getByRole('form', { name: 'Add a rule' });
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await form.getByLabel('Tokens').fill('ci*');
  await form.getByText('Refuse', { exact: true }).click();
  await form.getByRole('button', { name: 'Add' }).click();
  await rule('#3').waitFor();
  await tryTool('show.read_note');
  await decision().getByText('A person approves every call.').waitFor();
  await page.getByLabel('Called by').selectOption('token ci-nightly');
  await decision().getByText('It is not called.').waitFor();
});

it('an invalid rule is reported at its field, and typed text is kept', async () => {
  const before = await stored();
  await rule('no deletes').getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('form', { name: 'Edit the rule' });
  await form.getByLabel('Tools', { exact: true }).fill('delete_note');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('it must be a pattern of SERVER.TOOL').waitFor();
  expect([await form.getByLabel('Tools', { exact: true }).inputValue(), await stored()]).toEqual([
    'delete_note',
    before,
  ]);
  await form.getByLabel('Tools', { exact: true }).fill('show.delete_*');
  await form.getByRole('button', { name: 'Save' }).click();
  await rule('no deletes').getByText('show.delete_*').waitFor();
});

it('a rule that someone else changed in the meantime is not overwritten', async () => {
  await rule('no deletes').getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('form', { name: 'Edit the rule' });
  await form.getByLabel('Because').fill('Mine');
  await page.route('**/events', (route) => route.abort());
  await page.route('**/policy/rules', async (route) => {
    if (route.request().method() === 'PUT')
      await admin.ask('PUT', '/policy/rules', { body: { rules: [{ effect: 'ask', name: 'theirs' }] } });
    await route.continue();
  });
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Someone else has changed or deleted this rule.').waitFor();
  await page
    .getByRole('form')
    .getByText(/has changed this since/)
    .waitFor();
  await rule('theirs').waitFor();
  expect([await form.getByLabel('Because').inputValue(), await stored()]).toEqual([
    'Mine',
    [{ effect: 'ask', name: 'theirs' }],
  ]);
  await page.unrouteAll();
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await rule('no deletes').getByText('Mine').waitFor();
  // The page shows the rule before it is stored.
  await expect.poll(stored, { timeout: 20_000 }).toMatchObject([{ name: 'theirs' }, { name: 'no deletes' }]);
});

it('a deleted rule can be restored to its position', async () => {
  const before = await stored();
  await rule('theirs').getByRole('button', { name: 'Delete' }).click();
  await rule('theirs').waitFor({ state: 'detached' });
  const notices = page.getByRole('status', { name: 'Notices' });
  await notices.getByText('Deleted the rule theirs').waitFor();
  await notices.getByRole('button', { name: 'Undo' }).last().click();
  await rule('theirs').waitFor();
  await expect.poll(stored, { timeout: 20_000 }).toEqual(before);
});

it('changing and adding a rule can be undone', async () => {
  const form = page.getByRole('form', { name: /^(Add a|Edit the) rule$/ });
  const before = await stored();
  const notices = page.getByRole('status', { name: 'Notices' });
  await rule('theirs').getByRole('button', { name: 'Edit' }).click();
  await form.getByLabel('Because').fill('Changed');
  await form.getByRole('button', { name: 'Save', exact: true }).click();
  await rule('theirs').getByText('Changed').waitFor();
  await notices.getByText('Changed the rule theirs').waitFor();
  await notices.getByRole('button', { name: 'Undo' }).last().click();
  await expect.poll(stored, { timeout: 20_000 }).toEqual(before);
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await form.getByLabel('Name').fill('extra');
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await notices.getByText('Added the rule extra').waitFor();
  await notices.getByRole('button', { name: 'Undo' }).last().click();
  await expect.poll(stored, { timeout: 20_000 }).toEqual(before);
});

it('the rule editor has no accessibility violations, wide or narrow, light or dark', async () => {
  const findings: string[] = [];
  await rule('theirs').getByRole('button', { name: 'Edit' }).click();
  for (const width of [1_200, 360]) {
    await page.setViewportSize({ width, height: 800 });
    findings.push(...(await accessibilityFindings(page)));
    const overflow = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    if (overflow > 0) findings.push(`${overflow} px too wide at ${width} px`);
  }
  expect(findings).toEqual([]);
  expect(signedIn.complaints).toEqual([]);
});
