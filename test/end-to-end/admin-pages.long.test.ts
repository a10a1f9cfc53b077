import type { Client } from '@modelcontextprotocol/client';
import type { Response } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient } from '../support/clients.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { at, listAt, numberAt, textAt } from '../support/json.ts';
import {
  accessibilityFindings,
  openSignedIn,
  signInLink,
  startBrowser,
  type SignedInPage,
} from '../support/pages.ts';
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
    settings: { settings: { approvals: 'gateway' } },
    home,
  });
  await assay.settled();
  admin = adminClient(assay, token);
  browser = await startBrowser();
  signedIn = await openSignedIn(browser, assay);
});

/** The page of a link has the same path, so they are distinguished by method. */
const isSignIn = (response: Response): boolean =>
  response.request().method() === 'POST' && response.url().endsWith('/admin/sign-in');

it('a link signs in, leaves no code in the address bar, and is refused in another browser', async () => {
  const { page } = signedIn;
  expect(page.url()).toBe(`http://127.0.0.1:${assay.port}/admin`);
  const link = await signInLink(assay);
  const [first, second] = [await browser.newPage(), await browser.newPage()];
  await first.goto(link);
  await first.getByRole('heading', { name: 'Overview' }).waitFor();
  // The refusal stays on the page although the answer "not signed in" arrives after it.
  const refused = second.waitForResponse(isSignIn);
  await second.route('**/admin/session', async (route) => {
    await refused;
    await second.locator('[data-loading]').first().waitFor({ state: 'detached' });
    await route.continue();
  });
  const noSession = second.waitForResponse('**/admin/session');
  await second.goto(link);
  await noSession;
  await second.getByText('This sign-in link has expired or was used.').waitFor();
  expect(second.url()).not.toContain('code=');
  await Promise.all([first.context().close(), second.context().close()]);
});

it('a link signs in even if an earlier request for the current user is answered later', async () => {
  const page = await browser.newPage();
  const signIn = page.waitForResponse(isSignIn);
  const answered = Promise.withResolvers<undefined>();
  await page.route('**/admin/session', async (route) => {
    const response = await route.fetch();
    await signIn;
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    // The page may have abandoned the request.
    await route.fulfill({ response }).catch(() => undefined);
    answered.resolve(undefined);
  });
  await page.goto(await signInLink(assay));
  await answered.promise;
  await page.getByRole('link', { name: /^Tools(?!ets)/ }).click();
  await page.getByRole('heading', { name: 'Tools' }).waitFor();
  await page.context().close();
});

it('texts of servers are shown as text, and invisible characters are made visible', async () => {
  const { page, complaints } = signedIn;
  const tools = listAt((await admin.get('/tools')).json(), 'tools');
  const title = '<img src=x onerror="window.hacked=1">\u202e <b>bold</b>';
  const changed = await admin.ask('PATCH', `/tools/${textAt(tools[0] ?? null, 'id')}`, { body: { title } });
  expect(verdictOf(changed)).toBe('200');
  await page.getByRole('link', { name: /^Tools(?!ets)/ }).click();
  // The list follows the change without being loaded again.
  const row = page.getByRole('link', { name: '<img src=x onerror="window.hacked=1">U+202E <b>bold</b>' });
  await row.click();
  await page.getByRole('dialog').getByText('<b>bold</b>').waitFor();
  expect(await page.evaluate('[window.hacked, document.querySelector("main img, main b")]')).toEqual([
    undefined,
    null,
  ]);
  expect(complaints).toEqual([]);
});

it("a hint is overridden and reset in a tool's panel", async () => {
  const { page } = signedIn;
  const dialog = page.getByRole('dialog');
  const override = dialog.getByRole('radiogroup', { name: 'Override of Destructive' });
  const id = new URL(page.url()).searchParams.get('tool') ?? '';
  const claims = async (): Promise<readonly unknown[]> =>
    listAt(at((await admin.get(`/tools/${id}`)).json(), 'hints', 'destructiveHint'), 'claims').map(
      (claim) => [textAt(claim, 'kind'), at(claim, 'value'), textAt(claim, 'origin')],
    );
  await override.getByText('No', { exact: true }).click();
  await dialog.getByText(/overridden to no by operator/).waitFor();
  expect(await claims()).toContainEqual(['override', false, 'operator']);
  await override.getByText('Inherit').click();
  await dialog.getByText(/overridden to no by operator/).waitFor({ state: 'detached' });
  await expect.poll(claims).not.toContainEqual(['override', false, 'operator']);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

it('a tool is disabled for clients, and filters are in the URL', async () => {
  const { page } = signedIn;
  await page.getByRole('textbox', { name: 'Search tools' }).fill('plain_echo');
  const toggle = page.getByRole('switch', { name: 'plain_echo is on' });
  await toggle.press('Space');
  const disabled = async (): Promise<number> =>
    numberAt((await admin.get('/tools?enabled=false')).json(), 'total');
  await expect.poll(disabled).toBe(1);
  expect(new URL(page.url()).searchParams.get('q')).toBe('plain_echo');
  await toggle.press('Space');
  await expect.poll(disabled).toBe(0);
});

describe('a call that waits for approval', () => {
  const markup = '<img src=x onerror="window.hacked=1">';
  const call = async (text: string): Promise<Awaited<ReturnType<Client['callTool']>>> => {
    client ??= await connectClient({ url: assay.url }, 'modern');
    return client.callTool({ name: 'plain_echo', arguments: { text } });
  };
  let client: Client | undefined;

  it('is shown at once with its arguments as text, and continues when approved by keyboard', async () => {
    const { page, complaints } = signedIn;
    await page
      .getByRole('navigation')
      .getByRole('link', { name: /^Approvals/ })
      .click();
    await page.getByText('Nothing to approve').waitFor();
    const answer = call(markup);
    const request = page.getByRole('article', { name: 'Call of plain.echo' });
    await request.getByText(JSON.stringify(markup)).waitFor();
    await expect.poll(() => page.title(), { timeout: 20_000 }).toBe('(1) Approvals · Assay');
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.keyboard.press('a');
    expect(textOf(await answer)).toBe(JSON.stringify({ text: markup }));
    await request.waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Answered' }).getByText('by operator').waitFor();
    expect([await page.evaluate('window.hacked'), complaints]).toEqual([undefined, []]);
  });

  it('is denied with a reason that the model reads', async () => {
    const { page } = signedIn;
    const answer = call('again');
    const request = page.getByRole('article', { name: 'Call of plain.echo' });
    await request.getByRole('button', { name: 'Deny' }).click();
    await request.getByLabel('Reason, shown to the model').fill('not on Friday');
    await page.keyboard.press('Enter');
    const { isError } = await answer;
    expect([isError, textOf(await answer)]).toEqual([true, expect.stringContaining('not on Friday')]);
    await request.waitFor({ state: 'detached' });
  });
});

it('a call that could carry data out can be approved for the session and destination server', async () => {
  const out = filedServer([toolNamed('read'), toolNamed('send')]);
  const labelled = await startGateway({
    servers: { out: { ...out.entry, tags: ['private'] } },
    settings: {
      settings: { approvals: 'gateway', 'policy.confirm': 'never', 'policy.alwaysConfirmDestructive': false },
    },
    home: tempDir(),
  });
  await labelled.settled();
  const { page, complaints } = await openSignedIn(browser, labelled);
  const client = await connectClient({ url: labelled.url }, 'legacy');
  const call = (name: string, to: string): ReturnType<Client['callTool']> =>
    client.callTool({ name, arguments: { to } });
  // It sets both labels.
  await call('out_read', 'nobody');
  await page
    .getByRole('navigation')
    .getByRole('link', { name: /^Approvals/ })
    .click();
  const answer = call('out_send', 'ann');
  const request = page.getByRole('article', { name: 'Call of out.send' });
  await request.locator('dt', { hasText: 'Destination server' }).locator('+ dd').getByText('out').waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(await request.getByRole('button', { name: 'Approve for session' }).count()).toBe(0);
  await request.getByRole('button', { name: 'For this session and destination server' }).click();
  expect(textOf(await answer)).toBe('send');
  await page
    .getByRole('region', { name: 'Answered' })
    .getByText('for the session and destination server')
    .waitFor();
  expect(textOf(await call('out_send', 'bob'))).toBe('send');
  expect(complaints).toEqual([]);
  await page.context().close();
});

function textOf({ content }: Awaited<ReturnType<Client['callTool']>>): string {
  return content.map((part) => (part.type === 'text' ? part.text : part.type)).join();
}

it('recorded calls are listed with their decisions', async () => {
  const { page } = signedIn;
  await page.getByRole('navigation').getByRole('link', { name: 'Activity' }).click();
  await expect
    .poll(() => page.locator('.rows .row').allInnerTexts(), { timeout: 20_000 })
    .toEqual([
      expect.stringMatching(/^Asked\s+plain\.echo\s[^]*Denied|^Asked\s+plain\.echo\s[^]*APPROVAL/),
      expect.stringMatching(/^Approved\s+plain\.echo\s[^]*OK/),
    ]);
});

it('no page has an accessibility violation, light or dark, or loads anything from elsewhere', async () => {
  const { page, complaints } = signedIn;
  const findings: string[] = [];
  for (const name of ['Overview', 'Approvals', 'Servers', 'Activity', 'Tools']) {
    await page
      .getByRole('navigation')
      .getByRole('link', { name: new RegExp(`^${name}(?!ets)`) })
      .click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    findings.push(...(await accessibilityFindings(page)));
  }
  await page.locator('.tool-list .row a').first().click();
  await page.getByRole('dialog').getByRole('tab', { name: 'Definition' }).click();
  await page.getByRole('dialog').getByRole('heading', { name: 'Input' }).waitFor();
  findings.push(...(await accessibilityFindings(page)));
  expect(findings).toEqual([]);
  expect(complaints).toEqual([]);
});

it('a page with an expired session shows the sign-in, and none of its data', async () => {
  const { page } = signedIn;
  const token = await keepToken(home, 'reader', { scopes: ['read'] });
  const other = await browser.newPage();
  await other.goto(`http://127.0.0.1:${assay.port}/admin/tools`);
  await other.getByLabel('Token').fill('assay_wrong');
  await other.getByRole('button', { name: 'Sign in' }).click();
  await other.getByRole('alert').waitFor();
  await other.getByLabel('Token').fill(token);
  await other.getByRole('button', { name: 'Sign in' }).click();
  await other.getByText('plain_echo').waitFor();
  expect(await other.getByRole('link', { name: 'Approvals' }).count()).toBe(0);
  expect(await other.getByRole('switch').first().isDisabled()).toBe(true);
  expect(verdictOf(await admin.delete(`/tokens/${token.split('_')[1] ?? ''}`))).toBe('204');
  await other.getByRole('heading', { name: 'Sign in to Assay' }).waitFor();
  expect(await other.getByText('plain_echo').count()).toBe(0);
  await other.close();
  expect(page.url()).toContain('/admin/tools');
});
