// The tool panel in a real browser, and what a connected MCP client sees after an edit.
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { adminClient, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { connectClient } from '../support/clients.ts';
import { until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { textAt } from '../support/json.ts';
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
  assay = await startGateway({ servers: { show: fixture('showcase') }, home });
  await assay.settled();
  admin = adminClient(assay, token);
  signedIn = await openSignedIn(await startBrowser(), assay);
  ({ page } = signedIn);
  page.setDefaultTimeout(20_000);
});

async function open(tool: string): Promise<void> {
  const id = textAt((await admin.get(`/tools/show.${tool}`)).json(), 'id');
  await page.goto(`http://127.0.0.1:${assay.port}/admin/tools?tool=${id}`);
  await panel().getByRole('tab', { name: 'Hints' }).waitFor();
}

const panel = () => page.getByRole('dialog');
const override = (hint: string) => panel().getByRole('radiogroup', { name: `Override of ${hint}` });
const choose = (hint: string, value: string) => override(hint).getByText(value, { exact: true }).click();

it('each combination of hints has its badge', async () => {
  await page.goto(`http://127.0.0.1:${assay.port}/admin/tools`);
  const badges: Record<string, string> = {};
  for (const title of ['Read note', 'Delete note', 'Add note', 'Set note', 'Both at once', 'show_silent']) {
    const row = page
      .locator('.tool-list .row')
      .filter({ has: page.getByRole('link', { name: title, exact: true }) });
    badges[title] = await row.locator('button.badge').innerText();
  }
  expect(badges).toEqual({
    'Read note': 'Read-only',
    'Delete note': 'Destructive',
    'Add note': 'Write',
    'Set note': 'Write',
    'Both at once': 'Destructive',
    show_silent: 'Unannotated',
  });
});

it('tools are grouped by risk under collapsible headings with counts', async () => {
  await page.goto(`http://127.0.0.1:${assay.port}/admin/tools`);
  await page.getByLabel('Group by').selectOption('risk');
  const headings = page.locator('.tool-list').getByRole('button', { expanded: true });
  await expect
    .poll(async () => (await headings.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')))
    .toEqual(['Read-only by an untrusted claim 4', 'Modifying 2', 'Destructive 2', 'Unannotated 1']);
  const readNote = page.getByRole('link', { name: 'Read note' });
  await page.getByRole('button', { name: /^Read-only by an untrusted claim/ }).press('Enter');
  await readNote.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Delete note' }).waitFor();
  await page.getByRole('button', { name: /^Read-only by an untrusted claim/ }).click();
  await readNote.waitFor();
});

it('tools are filtered by effective hint, finding and toolset; the filters are in the URL', async () => {
  const tools = [{ namespacedName: 'show.set_note' }, { namespacedName: 'show.read_note' }];
  await admin.ask('POST', '/toolsets', { body: { name: 'notes', tools } });
  await page.goto(`http://127.0.0.1:${assay.port}/admin/tools`);
  const titles = () => page.locator('.tool-list .row a').allInnerTexts();
  await page.getByLabel('Hint', { exact: true }).selectOption({ label: 'Idempotent: yes' });
  await page.getByLabel('Toolset', { exact: true }).selectOption('notes');
  await expect.poll(titles).toEqual(['Read note', 'Set note']);
  await page.getByLabel('Hint', { exact: true }).selectOption({ label: 'Read-only: no' });
  await expect.poll(titles).toEqual(['Set note']);
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    hint: 'readOnlyHint:no',
    toolset: 'notes',
  });
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('Findings').selectOption({ label: 'Finding: contradiction' });
  await expect.poll(titles).toEqual(['Both at once']);
  await page.getByLabel('Findings').selectOption('');
  await page.getByLabel('Review').selectOption('any');
  await page.getByText('No tools match these filters').waitFor();
});

it("a row's badge shows all annotations with their source, on hover and on focus", async () => {
  await page.goto(`http://127.0.0.1:${assay.port}/admin/tools`);
  const row = page.locator('.tool-list .row').filter({ hasText: 'Set note' });
  await row.getByText('Idempotent').waitFor();
  expect(await page.locator('.tool-list .row').filter({ hasText: 'Read note' }).innerText()).not.toContain(
    'Idempotent',
  );
  const badge = row.getByRole('button', { name: 'Write' });
  const card = page.getByRole('tooltip');
  await badge.hover();
  await card.getByText('yes, declared by its server').waitFor();
  // The card stays open when the pointer moves onto it.
  await card.getByText('yes, default of the specification').hover();
  await card.getByText('Open world').hover();
  await page.locator('h1').hover();
  await card.waitFor({ state: 'detached' });
  await row.getByRole('link').focus();
  await page.keyboard.press('Tab');
  await card.getByText('yes, declared by its server').waitFor();
  expect(await badge.getAttribute('aria-describedby')).toBe(await card.getAttribute('id'));
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await card.waitFor({ state: 'detached' });
});

it('an edited hint reaches a connected client, and can be reset and undone', async () => {
  const client = await connectClient({ url: assay.url }, 'legacy');
  const emitted = async (): Promise<unknown> => {
    const { tools } = await client.listTools();
    return tools.find(({ name }) => name === 'show_add_note')?.annotations?.idempotentHint;
  };
  const untilEmitted = (wanted: unknown): Promise<unknown> =>
    until(`the client sees ${String(wanted)}`, async () => ((await emitted()) === wanted ? true : undefined));
  expect(await emitted()).toBeUndefined();
  await open('add_note');
  await override('Idempotent').getByText('Inherit: no').waitFor();
  await choose('Idempotent', 'Yes');
  await panel()
    .getByText(/overridden to yes by operator on/)
    .waitFor();
  await untilEmitted(true);
  await override('Idempotent').getByText('Inherit: no').click();
  await untilEmitted(undefined);
  const undo = page.getByRole('status', { name: 'Notices' }).getByRole('button', { name: 'Undo' });
  await undo.nth(1).waitFor();
  await undo.last().click();
  await untilEmitted(true);
  await panel().getByRole('button', { name: 'Reset all to inherit' }).click();
  await untilEmitted(undefined);
  await panel().getByRole('tab', { name: 'History' }).click();
  await panel().locator('.rows .row').nth(3).waitFor();
});

it('a contradiction is shown before saving with a way to resolve it, and a refused edit is reverted', async () => {
  await open('delete_note');
  await choose('Read-only', 'Yes');
  const alert = panel().getByRole('alert');
  await alert.getByText('A tool cannot be both read-only and destructive').waitFor();
  const hints = (await admin.get('/tools/show.delete_note')).json();
  expect(JSON.stringify(hints)).not.toContain('"kind":"override"');
  await alert.getByRole('button', { name: 'Read-only yes, destructive no' }).click();
  await panel()
    .getByText(/overridden to no by operator/)
    .waitFor();
  // Someone else sets a contradicting value that the page has not seen yet, so its edit is refused with a reason.
  await page.route('**/tools/*', async (route) => {
    if (route.request().method() === 'PATCH')
      await admin.ask('PATCH', '/tools/show.add_note', { body: { annotations: { destructiveHint: true } } });
    await route.continue();
  });
  await open('add_note');
  await choose('Read-only', 'Yes');
  await panel().getByText('A read-only tool cannot be destructive: set one of them to false.').waitFor();
  await page.unrouteAll();
  await panel()
    .getByText(/overridden to yes by boss/)
    .waitFor();
  expect(await override('Read-only').getByRole('radio', { name: 'Yes' }).isChecked()).toBe(false);
});

it('the schema is shown as a list of properties, and markup as text', async () => {
  await open('read_note');
  await panel().getByRole('tab', { name: 'Definition' }).click();
  const row = panel().getByRole('listitem').filter({ hasText: 'filter.author' });
  await row.getByText('required').waitFor();
  await row.getByText('Who wrote it').waitFor();
  await panel().getByText('one of "newest", "oldest"').waitFor();
  await open('markup');
  await panel().getByRole('tab', { name: 'Definition' }).click();
  await panel().getByText('<img src=x').first().waitFor();
  expect([await page.evaluate('window.hacked'), signedIn.complaints]).toEqual([undefined, []]);
});

it('the panel has no accessibility violations, wide or narrow, light or dark', async () => {
  const findings: string[] = [];
  for (const width of [1_200, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await open('both');
    for (const tab of ['Hints', 'Definition', 'History']) {
      await panel().getByRole('tab', { name: tab }).click();
      findings.push(...(await accessibilityFindings(page)));
    }
  }
  expect(findings).toEqual([]);
});
