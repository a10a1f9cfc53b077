import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { bundleOfSettings } from '../support/bundles.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, type Json } from '../support/json.ts';
import { accessibilityFindings, openSignedIn, startBrowser, type SignedInPage } from '../support/pages.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

const home = tempDir();
let assay: Gateway;
let admin: AdminClient;
let browser: Awaited<ReturnType<typeof startBrowser>>;
let signedIn: SignedInPage;
beforeAll(async () => {
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  assay = await startGateway({
    servers: { plain: fixture('plain') },
    settings: { settings: { 'notes.review': 'always' } },
    env: { ASSAY_POLICY_CONFIRM: 'never' },
    home,
  });
  await assay.settled();
  admin = adminClient(assay, token);
  browser = await startBrowser();
  signedIn = await openSignedIn(browser, assay);
});

async function preference(key: string): Promise<Json | undefined> {
  const found = (await admin.get('/preferences')).json();
  return listAt(found, 'preferences').find((one) => at(one, 'key') === key);
}

async function openSection(name: string): Promise<void> {
  const { page } = signedIn;
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name }).click();
}

describe('preferences', () => {
  it('apply immediately where possible, and Undo reverts them', async () => {
    const { page } = signedIn;
    await openSection('Preferences');
    await page.getByLabel('approvals', { exact: true }).selectOption('gateway');
    await expect
      .poll(() => preference('approvals'), { timeout: 20_000 })
      .toMatchObject({ value: 'gateway', running: 'gateway', origin: 'store' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect
      .poll(() => preference('approvals'), { timeout: 20_000 })
      .toMatchObject({ value: 'client', origin: 'default' });
    await expect
      .poll(() => page.getByLabel('approvals', { exact: true }).inputValue(), { timeout: 20_000 })
      .toBe('client');
  });

  it('that apply only at the next start are marked as such, with the value until then', async () => {
    const { page } = signedIn;
    const field = page.getByLabel('limits.drainMs', { exact: true });
    await field.fill('-1');
    await page.getByText(/^A whole number from 0 to/).waitFor();
    await field.fill('7000');
    await field.press('Enter');
    await page.getByText(/Takes effect at the next start of Assay; [\d,]+ until then\./).waitFor();
    await expect.poll(() => preference('limits.drainMs')).toMatchObject({ value: 7_000, origin: 'store' });
    await page.getByRole('button', { name: /^Reset to/ }).click();
    await expect
      .poll(() => preference('limits.drainMs'), { timeout: 20_000 })
      .toMatchObject({ origin: 'default' });
  });

  it('that are fixed cannot be changed, and show what fixes them', async () => {
    const { page } = signedIn;
    const controls = ['policy.confirm', 'notes.review', 'mcp.access'].map((key) =>
      page.getByLabel(key, { exact: true }),
    );
    expect(await Promise.all(controls.map((one) => one.isDisabled()))).toEqual([true, true, true]);
    await page.getByText('Fixed by ASSAY_POLICY_CONFIRM in the environment.').waitFor();
    await page.getByText('Fixed by settings["notes.review"] in the config file.').waitFor();
    await page.getByText(/Can only be set at startup, by ASSAY_MCP_ACCESS/).waitFor();
  });

  it('can be found with the keyboard alone', async () => {
    const { page } = signedIn;
    await page.locator('h1').click();
    await page.keyboard.press('/');
    await page.keyboard.type('lint hiddenText');
    await expect.poll(() => page.locator('.setting').count(), { timeout: 20_000 }).toBe(1);
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('lint.hiddenText');
    await page.getByLabel('Search settings').fill('');
  });
});

describe('tokens', () => {
  it('are created with chosen scopes and shown once', async () => {
    const { page } = signedIn;
    await openSection('Tokens');
    await page.getByRole('button', { name: 'Create a token' }).click();
    const form = page.getByRole('form', { name: 'Create a token' });
    expect(await form.getByLabel(/execute/).isDisabled()).toBe(true);
    await form.getByLabel('Name').fill('robot');
    await form.getByLabel(/^read/).check();
    await form.getByRole('button', { name: 'Create' }).click();
    const made = page.getByRole('region', { name: 'The new token' });
    const text = await made.getByLabel('The new token').innerText();
    expect(verdictOf(await adminClient(assay, text).get('/tools'))).toBe('200');
    await made.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(text);
  });

  it('are refused if the name is in use, and typed text is kept', async () => {
    const { page } = signedIn;
    await page.getByRole('button', { name: 'Create a token' }).click();
    const form = page.getByRole('form', { name: 'Create a token' });
    await form.getByLabel('Name').fill('robot');
    await form.getByRole('button', { name: 'Create' }).click();
    await form.getByRole('alert').waitFor();
    expect(await form.getByLabel('Name').inputValue()).toBe('robot');
    await form.getByRole('button', { name: 'Cancel' }).click();
  });

  it('have their own preferences', async () => {
    const { page } = signedIn;
    const token = page.getByRole('group', { name: 'Token robot' });
    await token.getByRole('button', { name: 'Preferences' }).click();
    expect(await token.getByLabel('policy.confirm').isDisabled()).toBe(true);
    await token.getByLabel('policy.autoApproveReadOnly').selectOption('on');
    const id = await token.locator('code').first().innerText();
    await expect
      .poll(async () => listAt((await admin.get(`/tokens/${id}/preferences`)).json(), 'preferences'), {
        timeout: 20_000,
      })
      .toContainEqual({ key: 'policy.autoApproveReadOnly', value: true, origin: 'token' });
  });

  it('are revoked only after a second, confirming click', async () => {
    const { page } = signedIn;
    const token = page.getByRole('group', { name: 'Token robot' });
    await token.getByRole('button', { name: 'Revoke robot' }).click();
    await page.keyboard.press('Escape');
    await token.getByRole('button', { name: 'Revoke robot' }).click();
    await token.getByRole('button', { name: 'Revoke permanently' }).click();
    await token.getByText('Revoked', { exact: true }).waitFor();
    const states = listAt((await admin.get('/tokens')).json(), 'tokens').map((one) => [
      at(one, 'name'),
      at(one, 'state'),
    ]);
    expect(states).toContainEqual(['robot', 'revoked']);
  });
});

describe('the Export and import section', () => {
  const file = join(tempDir(), 'bundle.json');

  it('refuses a file that is not JSON, with the reason', async () => {
    const { page } = signedIn;
    await openSection('Export and import');
    writeFileSync(file, '{ not JSON');
    await page.getByLabel('File').setInputFiles(file);
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByText(/^The file is not JSON/).waitFor();
  });

  it('shows what an import would change before it is applied', async () => {
    const { page } = signedIn;
    writeFileSync(file, JSON.stringify(bundleOfSettings({ 'limits.retries': 7 })));
    await page.getByLabel('File').setInputFiles([]);
    await page.getByLabel('File').setInputFiles(file);
    await page.getByRole('button', { name: 'Preview changes' }).click();
    const plan = page.getByRole('region', { name: 'Changes' });
    await plan.getByText('3 → 7').waitFor();
    expect(await preference('limits.retries')).toMatchObject({ value: 3 });
    await plan.getByRole('button', { name: 'Apply 1 change' }).click();
    await page.getByRole('region', { name: 'Applied changes' }).getByText('Created').waitFor();
    expect(await preference('limits.retries')).toMatchObject({ value: 7, origin: 'store' });
  });

  it('downloads an export without secrets or with encrypted secrets', async () => {
    const { page } = signedIn;
    const [plain] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download without secrets' }).click(),
    ]);
    expect(plain.suggestedFilename()).toMatch(/^assay-\d{4}-\d\d-\d\d\.json$/);
    await page.getByLabel('Passphrase', { exact: true }).fill('correct horse battery staple');
    const [sealed] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download with encrypted secrets' }).click(),
    ]);
    expect(sealed.suggestedFilename()).toBe(plain.suggestedFilename());
  });
});

it('signing out another browser makes its open page show the sign-in form', async () => {
  const { page } = signedIn;
  const other = await openSignedIn(browser, assay);
  await openSection('Browsers');
  await page.getByText('This browser').waitFor();
  const before = await page.getByRole('group', { name: /^Browser / }).count();
  await page
    .getByRole('button', { name: /^Sign out [0-9a-f]{12}$/ })
    .first()
    .click();
  await other.page.getByRole('heading', { name: 'Sign in to Assay' }).waitFor();
  await expect
    .poll(() => page.getByRole('group', { name: /^Browser / }).count(), { timeout: 20_000 })
    .toBe(before - 1);
});

it('the sections have no accessibility violations, light or dark, even at 360 px', async () => {
  const { page, complaints } = signedIn;
  const findings: string[] = [];
  for (const width of [1200, 360])
    for (const section of ['preferences', 'tokens', 'browsers', 'backup']) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`http://127.0.0.1:${assay.port}/admin/settings?section=${section}`);
      await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
      await page.locator('main .row, main .setting, main form').first().waitFor();
      findings.push(...(await accessibilityFindings(page)));
      const overflow = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      if (overflow > 0) findings.push(`${section} is ${overflow} px too wide at ${width} px`);
    }
  expect(findings).toEqual([]);
  expect(complaints).toEqual([]);
});
