// Keyboard-only use, text typed before a session ends, and changes made while a page is loading.
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { adminClient, type AdminClient, verdictOf } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { connectClient } from '../support/clients.ts';
import { startGateway } from '../support/gateway.ts';
import { at } from '../support/json.ts';
import { openSignedIn, signInBy, startBrowser } from '../support/pages.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

const home = tempDir();
let assay: Gateway;
let browser: Awaited<ReturnType<typeof startBrowser>>;
let ann: string;
let ben: string;
let admin: AdminClient;
beforeAll(async () => {
  ann = await keepToken(home, 'ann', { scopes: ['admin'] });
  ben = await keepToken(home, 'ben', { scopes: ['admin'] });
  assay = await startGateway({
    servers: { plain: fixture('plain') },
    settings: { settings: { approvals: 'gateway' } },
    home,
  });
  await assay.settled();
  admin = adminClient(assay, ben);
  browser = await startBrowser();
});

type Called = readonly [isError: boolean, text: string];

/** Opens the Approvals page with a pending call for each text; the first one is selected. */
async function twoWaiting(firstText: string, secondText: string) {
  const { page } = await openSignedIn(browser, assay);
  page.setDefaultTimeout(20_000);
  const client = await connectClient({ url: assay.url }, 'modern');
  const call = async (text: string): Promise<Called> => {
    const { isError = false, content } = await client.callTool({ name: 'plain_echo', arguments: { text } });
    return [isError, JSON.stringify(content)];
  };
  const requests = page.getByRole('article', { name: 'Call of plain.echo' });
  await page.keyboard.press('2');
  await page.getByText('Nothing to approve').waitFor();
  const first = call(firstText);
  await requests.getByText(`"${firstText}"`).waitFor();
  const second = call(secondText);
  await requests.getByText(`"${secondText}"`).waitFor();
  return { page, requests, first, second };
}

it('pending calls can be approved and denied with the keyboard alone', async () => {
  const { page, requests, first, second } = await twoWaiting('the first', 'the second');
  await page.keyboard.press('j');
  await page.locator('article[data-selected=true]').getByText('"the second"').waitFor();
  await page.keyboard.press('a');
  expect(await second).toEqual([false, expect.stringContaining('the second')]);
  await requests.getByText('"the second"').waitFor({ state: 'detached' });
  await page.keyboard.press('k');
  await page.keyboard.press('d');
  await page.getByLabel('Reason, shown to the model').waitFor();
  await page.keyboard.type('not on Friday');
  await page.keyboard.press('Enter');
  expect(await first).toEqual([true, expect.stringContaining('not on Friday')]);
  await page.close();
});

it('a denial can be typed while the previous approval is still being sent', async () => {
  const { page, requests, first, second } = await twoWaiting('one more', 'the last');
  const arrives = Promise.withResolvers<undefined>();
  await page.route('**/approve', async (route) => {
    await arrives.promise;
    await route.continue();
  });
  await page.keyboard.press('a');
  await page.keyboard.press('j');
  await page.keyboard.press('d');
  await page.getByLabel('Reason, shown to the model').waitFor();
  await page.keyboard.type('not today');
  arrives.resolve(undefined);
  expect(await first).toEqual([false, expect.stringContaining('one more')]);
  await requests.getByText('"one more"').waitFor({ state: 'detached' });
  await page.keyboard.type(', and not tomorrow');
  await page.keyboard.press('Enter');
  expect(await second).toEqual([true, expect.stringContaining('not today, and not tomorrow')]);
  await page.close();
});

const rules = () => `http://127.0.0.1:${assay.port}/admin/settings?section=rules`;
const form = (page: Page) => page.getByRole('form', { name: 'Add a rule' });

/** Ann's page with a half-written rule, after her session has ended. */
async function endedPage(): Promise<Page> {
  const { page } = await signInBy(browser, assay, ann);
  page.setDefaultTimeout(20_000);
  await page.goto(rules());
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await form(page).getByLabel('Name', { exact: true }).fill('half a rule');
  const { page: other } = await signInBy(browser, assay, ann);
  await other.getByRole('button', { name: 'Sign out' }).click();
  await other.getByRole('menuitem', { name: 'Sign out everywhere' }).click();
  await other.getByRole('heading', { name: 'Sign in to Assay' }).waitFor();
  await other.close();
  await page.getByRole('heading', { name: 'Sign in to Assay' }).waitFor();
  expect(await page.content()).not.toContain('half a rule');
  return page;
}

async function signInAgain(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
}

it('typed text is restored, and can be saved, when the same person signs in again', async () => {
  const page = await endedPage();
  await signInAgain(page, ann);
  expect(await form(page).getByLabel('Name', { exact: true }).inputValue()).toBe('half a rule');
  await form(page).getByRole('button', { name: 'Add' }).click();
  await page.getByRole('listitem', { name: 'Rule half a rule' }).waitFor();
  const rule = { effect: 'ask', name: 'half a rule' };
  // The page lists the rule before the server has answered.
  await expect.poll(async () => at((await admin.get('/policy/rules')).json(), 'rules')).toEqual([rule]);
  await page.close();
});

it('typed text is not shown if a different person signs in', async () => {
  const page = await endedPage();
  await signInAgain(page, ben);
  await page.getByRole('button', { name: 'Add a rule' }).click();
  expect(await form(page).getByLabel('Name', { exact: true }).inputValue()).toBe('');
  await page.close();
});

it("changes made between a page's first requests and its event stream are shown", async () => {
  const { page } = await openSignedIn(browser, assay);
  page.setDefaultTimeout(20_000);
  const opens = Promise.withResolvers<undefined>();
  await page.route('**/events', async (route) => {
    await opens.promise;
    await route.continue();
  });
  await page.goto(`http://127.0.0.1:${assay.port}/admin/toolsets`);
  await page.getByText('No toolsets yet').waitFor();
  expect(verdictOf(await admin.post('/toolsets', { name: 'later', tools: ['plain.echo'] }))).toBe('201');
  opens.resolve(undefined);
  await page.getByRole('button', { name: 'later' }).waitFor();
  await page.close();
});
