import type { Client } from '@modelcontextprotocol/client';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { connectClient } from '../support/clients.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, textAt } from '../support/json.ts';
import { accessibilityFindings, openSignedIn, startBrowser, type SignedInPage } from '../support/pages.ts';
import { installed, tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

const POLL = { timeout: 20_000 };
const TABS = ['tools', 'notes', 'clients', 'settings'];

const home = tempDir();
const TOOLS = [
  toolNamed('look', { annotations: { readOnlyHint: true } }),
  toolNamed('drop', { annotations: { readOnlyHint: false, destructiveHint: true } }),
];
const growing = filedServer(TOOLS);
let assay: Gateway;
let admin: AdminClient;
let browser: Browser;
let signedIn: SignedInPage;
let page: Page;
beforeAll(async () => {
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  assay = await startGateway({
    servers: { growing: growing.entry, files: installed('filesystem', [tempDir()]) },
    home,
  });
  await assay.settled();
  admin = adminClient(assay, token);
  browser = await startBrowser();
  signedIn = await openSignedIn(browser, assay);
  ({ page } = signedIn);
  page.setDefaultTimeout(POLL.timeout);
  await page
    .getByRole('navigation')
    .getByRole('link', { name: /^Toolsets/ })
    .click();
  await page.getByRole('heading', { name: 'No toolsets yet' }).waitFor();
});

afterEach(async () => {
  // A failed test may leave its dialog open, which would break the next one.
  if ((await page.getByRole('dialog').count()) > 0) await page.keyboard.press('Escape');
});

async function open(name: string, tab: RegExp): Promise<Locator> {
  await page.getByRole('listitem').getByRole('button', { name }).click();
  const panel = page.getByRole('dialog', { name });
  await panel.getByRole('tab', { name: tab }).click();
  return panel;
}

async function listed(): Promise<readonly string[]> {
  const client: Client = await connectClient({ url: `http://127.0.0.1:${assay.port}/mcp` }, 'modern');
  const { tools } = await client.listTools();
  await client.close();
  // The tool that switches modes is listed regardless of what is equipped.
  return tools
    .map(({ name }) => name)
    .filter((name) => name !== 'enter-configuration-mode')
    .sort();
}

it('clients list exactly the tools of the equipped toolset, here built by filtering by risk', async () => {
  await page.getByRole('button', { name: 'New toolset' }).click();
  const form = page.getByRole('dialog', { name: 'New toolset' });
  await form.getByRole('textbox', { name: 'Name' }).fill('Not A Name');
  await form.getByRole('button', { name: 'Create and choose tools' }).click();
  const name = form.getByRole('textbox', { name: 'Name' });
  await expect.poll(() => name.getAttribute('aria-invalid'), POLL).toBe('true');
  await name.fill('reading');
  await form.getByRole('button', { name: 'Create and choose tools' }).click();
  const panel = page.getByRole('dialog', { name: 'reading' });
  await panel.getByRole('combobox', { name: 'Risk' }).selectOption({ label: 'Read-only' });
  await panel.getByRole('combobox', { name: 'Server' }).selectOption('growing');
  await panel.getByRole('button', { name: 'Add 1 shown' }).click();
  await panel.getByText(/^1 tool, \d+ tokens, of [\d,]+ for all$/).waitFor();
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
  await panel.getByRole('button', { name: 'Equip', exact: true }).click();
  await panel.getByText('Clients at /mcp see its tools.').waitFor();
  await expect.poll(listed, POLL).toEqual(['growing_look']);
});

it('the search ranks tools by task, and a check box adds one to the toolset', async () => {
  const panel = await open('reading', /^Tools/);
  await panel.getByRole('textbox', { name: 'Search tools by task' }).fill('move a file elsewhere');
  const first = panel.getByRole('group', { name: 'Tools' }).getByRole('checkbox').first();
  await expect.poll(() => panel.locator('.pick').first().innerText(), POLL).toContain('files.move_file');
  await first.check();
  await panel.getByText(/^2 tools/).waitFor();
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
  await expect.poll(listed, POLL).toEqual(['files_move_file', 'growing_look']);
});

it("someone else's concurrent change is not silently overwritten", async () => {
  const members = async (): Promise<readonly string[]> =>
    listAt((await admin.get('/toolsets/shared')).json(), 'tools')
      .map((tool) => textAt(tool, 'namespacedName'))
      .sort();
  const toolset = (...names: readonly string[]): object => ({
    name: 'shared',
    tools: names.map((namespacedName) => ({ namespacedName })),
  });
  expect(verdictOf(await admin.post('/toolsets', toolset('growing.look')))).toBe('201');
  const panel = await open('shared', /^Tools/);
  await panel.getByRole('checkbox', { name: /growing\.drop/ }).check();
  const etag = (await admin.get('/toolsets/shared')).headers.etag ?? '';
  const both = toolset('growing.look', 'files.move_file');
  expect(verdictOf(await admin.put('/toolsets/shared', both, { 'if-match': etag }))).toBe('200');
  const save = panel.getByRole('button', { name: 'Save' });
  await save.click();
  await panel.getByText(/changed/).waitFor();
  expect(await members()).toEqual(['files.move_file', 'growing.look']);
  // After the warning, saving again overwrites the other change.
  await save.click();
  await save.waitFor({ state: 'detached' });
  expect(await members()).toEqual(['growing.drop', 'growing.look']);
  expect(verdictOf(await admin.delete('/toolsets/shared'))).toBe('200');
});

it('selecting a whole server includes its later tools, which are shown as new until accepted', async () => {
  const panel = await open('reading', /^Tools/);
  await panel.getByRole('combobox', { name: 'Server' }).selectOption('growing');
  await panel.getByRole('checkbox', { name: /All tools of growing/ }).check();
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
  growing.have([...TOOLS, toolNamed('later')]);
  const fresh = panel.getByRole('region', { name: 'New tools' });
  await fresh.getByText('growing.later').waitFor();
  await fresh.getByRole('button', { name: 'Accept it' }).click();
  await fresh.waitFor({ state: 'detached' });
  expect(listAt((await admin.get('/toolsets/reading/new')).json(), 'new')).toEqual([]);
  expect(await listed()).toContain('growing_later');
});

it('unavailable tools are listed with the reason', async () => {
  expect(verdictOf(await admin.ask('PATCH', '/tools/growing.drop', { body: { enabled: false } }))).toBe(
    '200',
  );
  const panel = await open('reading', /^Tools/);
  await panel.getByText('1 tool is not served now').click();
  await panel.getByText('an operator has disabled it').waitFor();
});

it('notes are shown as text and can be deleted', async () => {
  const note = { toolset: 'reading', name: 'where', note: '<b>In /srv.</b>' };
  expect(verdictOf(await admin.post('/tools/files.move_file/notes', note))).toBe('201');
  const panel = await open('reading', /^Notes/);
  await panel.getByText('<b>In /srv.</b>').waitFor();
  await panel.getByRole('button', { name: 'Delete' }).click();
  await panel.getByRole('heading', { name: 'No notes' }).waitFor();
});

it('client snippets contain the endpoint of the toolset', async () => {
  const panel = await open('reading', /^Clients/);
  await panel.getByRole('combobox', { name: 'Client' }).selectOption('cursor');
  await panel.getByRole('radiogroup', { name: 'How it connects' }).getByText('By URL').click();
  await panel.getByLabel('Snippet').getByText('/mcp/toolsets/reading').waitFor();
});

it('a toolset can be renamed and described, and is still equipped when restored after deletion', async () => {
  const panel = await open('reading', /^Settings/);
  await panel.getByRole('textbox', { name: 'Name' }).fill('looking');
  await panel.getByRole('textbox', { name: 'Description' }).fill('For a look around');
  await panel.getByRole('button', { name: 'Save' }).click();
  const renamed = page.getByRole('dialog', { name: 'looking' });
  await renamed.getByRole('textbox', { name: 'Description' }).waitFor();
  const before = (await admin.get('/toolsets/looking')).json();
  expect([textAt(before, 'description'), at(before, 'isEquipped')]).toEqual(['For a look around', true]);
  await renamed.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No toolsets yet' }).waitFor();
  await page.getByRole('status', { name: 'Notices' }).getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('listitem').getByText('Equipped').waitFor();
  const after = (await admin.get('/toolsets/looking')).json();
  expect([at(after, 'tools'), at(after, 'isEquipped')]).toEqual([at(before, 'tools'), true]);
});

it('the page has no accessibility violations, even at 360 px', async () => {
  const findings: string[] = [];
  for (const width of [1200, 360]) {
    await page.setViewportSize({ width, height: 800 });
    const tabs = (width === 360 ? TABS : TABS.slice(0, 1)).map((tab) => `?toolset=looking&tab=${tab}`);
    for (const search of ['', '?add=true', ...tabs]) {
      await page.goto(`http://127.0.0.1:${assay.port}/admin/toolsets${search}`);
      await (
        search === '' ? page.getByRole('list', { name: 'Toolsets' }) : page.getByRole('dialog')
      ).waitFor();
      findings.push(...(await accessibilityFindings(page)));
      const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
      if (Number(overflow) > 0) findings.push(`${width} ${search} is ${String(overflow)} px too wide`);
    }
  }
  expect(findings).toEqual([]);
  expect(signedIn.complaints).toEqual([]);
});
