import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Client } from '@modelcontextprotocol/client';
import { beforeAll, expect, it } from 'vitest';
import { adminClient, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { connectClient } from '../support/clients.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, parseJson } from '../support/json.ts';
import { accessibilityFindings, openSignedIn, startBrowser, type SignedInPage } from '../support/pages.ts';
import { fixture, PROGRAM, tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

const home = tempDir();
let assay: Gateway;
let admin: AdminClient;
let browser: Awaited<ReturnType<typeof startBrowser>>;
let signedIn: SignedInPage;
let client: Client;
beforeAll(async () => {
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  assay = await startGateway({ servers: { plain: fixture('plain') }, home });
  await assay.settled();
  admin = adminClient(assay, token);
  client = await connectClient({ url: assay.url }, 'modern');
  await client.callTool({ name: 'plain_echo', arguments: { text: 'one' } });
  await client.callTool({ name: 'no_such_tool', arguments: {} }).catch(() => undefined);
  browser = await startBrowser();
  signedIn = await openSignedIn(browser, assay);
});

it('the overview chart has a text alternative with its numbers', async () => {
  const { page } = signedIn;
  await page.getByRole('img', { name: 'In the last 12 hours: 2 calls, 1 errors, 0 refused.' }).waitFor();
});

it('calls are filtered by tool, outcome and time; the filter is in the URL and in the export', async () => {
  const { page } = signedIn;
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Activity' }).click();
  const rows = page.locator('.rows .row');
  await expect.poll(() => rows.count(), { timeout: 20_000 }).toBe(2);
  await page.keyboard.press('/');
  await page.keyboard.type('plain.echo');
  await page.keyboard.press('Enter');
  await expect.poll(() => rows.count(), { timeout: 20_000 }).toBe(1);
  await page.getByLabel('Time').selectOption('1');
  await expect
    .poll(() => Object.fromEntries(new URL(page.url()).searchParams))
    .toEqual({ tool: 'plain.echo', hours: '1' });
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'JSON lines' }).click(),
  ]);
  const lines = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\n');
  expect(lines.map((line) => at(parseJson(line), 'entry', 'tool', 'namespacedName'))).toEqual(['plain.echo']);
  await page.getByLabel('Outcome').selectOption('tool_error');
  await page.getByText('No calls match these filters').waitFor();
});

it('call details can be opened with the keyboard', async () => {
  const { page } = signedIn;
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Activity' }).click();
  await page.locator('h1').click();
  await page.locator('.rows .row').first().waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await page.getByText('Endpoint', { exact: true }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

it('a lost connection is reported, and typed text is kept', async () => {
  const { page } = signedIn;
  await page.route('**/events', (route) => route.abort());
  await page.goto(`http://127.0.0.1:${assay.port}/admin/settings?section=tokens`);
  await page.getByText('The connection to Assay is lost.').waitFor();
  await page.getByRole('button', { name: 'Create a token' }).click();
  await page.getByLabel('Name').fill('half a name');
  await page.unroute('**/events');
  await page.getByText('Live', { exact: true }).waitFor();
  expect(await page.getByLabel('Name').inputValue()).toBe('half a name');
});

it('the tool list can be requested as a summary without schemas and claims', async () => {
  const { tools } = (await admin.get('/tools?summary=true&limit=1')).json() as { readonly tools: never };
  const [tool] = listAt(tools);
  expect(Object.keys(tool as object).toSorted()).toEqual(
    ['description', 'hints', 'id', 'lint', 'name', 'namespacedName', 'serverName', 'state'].toSorted(),
  );
  expect(at(tool ?? null, 'hints', 'readOnlyHint')).toEqual({
    effective: false,
    decision: false,
    decidedBy: 'default',
    isContradicted: false,
  });
});

it('the first load of each page takes at most 200 kB of compressed JavaScript', () => {
  const folder = join(PROGRAM, '..', 'admin');
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const text = readFileSync(join(folder, 'assets', name), 'utf8');
    for (const [, file = ''] of text.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g)) visit(file);
  };
  for (const [, file = ''] of html.matchAll(/assets\/([\w.-]+\.js)/g)) visit(file);
  const sizeOf = (name: string): number => gzipSync(readFileSync(join(folder, 'assets', name))).length;
  const total = (names: ReadonlySet<string>): number =>
    [...names].reduce((sum, name) => sum + sizeOf(name), 0);
  const first = new Set(seen);
  expect(first.size).toBeGreaterThan(0);
  const pages = readdirSync(join(folder, 'assets')).filter((name) =>
    /^(overview|approvals|activity|settings|servers|tools|toolsets|run)-page-.*\.js$/.test(name),
  );
  expect(pages.length).toBe(8);
  for (const page of pages) {
    seen.clear();
    for (const name of first) seen.add(name);
    visit(page);
    expect([page, total(seen) <= 200_000]).toEqual([page, true]);
    expect(statSync(join(folder, 'assets', page)).size).toBeGreaterThan(0);
  }
});

it('without servers, the Overview, Servers and Tools pages explain how to import, add and connect', async () => {
  const { page, complaints } = await openSignedIn(browser, await startGateway());
  const steps = page.getByRole('region', { name: 'First steps' });
  const findings: string[] = [];
  for (const name of ['Tools', 'Servers', 'Overview']) {
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: new RegExp(`^${name}\\b`) })
      .click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    expect(await steps.getByLabel('Command to import servers').innerText()).toBe('assay setup');
    expect(parseJson(await steps.getByLabel('Snippet').innerText())).toMatchObject({
      mcpServers: { assay: {} },
    });
    findings.push(...(await accessibilityFindings(page)));
  }
  await steps.getByRole('button', { name: 'Add a server' }).click();
  await page.getByRole('dialog', { name: 'Add a server' }).waitFor();
  expect([...findings, ...complaints]).toEqual([]);
});

it('without tools, the Tools page links to the servers that listed none', async () => {
  const { page } = await openSignedIn(
    browser,
    await startGateway({ servers: { wrong: { command: 'no-such-program' } } }),
  );
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: /^Tools\b/ })
    .click();
  await page.getByRole('heading', { name: 'No tools yet' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Servers' }).click();
  await page
    .getByRole('main')
    .getByText(/no-such-program/)
    .first()
    .waitFor();
});

it('overview, approvals, activity and sign-in have no accessibility violations, also at 360 px', async () => {
  const { page, complaints } = signedIn;
  const findings: string[] = [];
  const check = async (width: number, name: string, path: string): Promise<void> => {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`http://127.0.0.1:${assay.port}/admin/${path}`);
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page.locator('main .row, main .empty, main form').first().waitFor();
    findings.push(...(await accessibilityFindings(page)));
    const overflow = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    if (overflow > 0) findings.push(`${name} is ${overflow} px too wide at ${width} px`);
  };
  for (const width of [1200, 360])
    for (const [name, path] of [
      ['Overview', ''],
      ['Approvals', 'approvals'],
      ['Activity', 'activity'],
      ['Activity', 'activity?show=changes'],
    ] as const)
      await check(width, name, path);
  await page.context().clearCookies();
  for (const width of [1200, 360]) await check(width, 'Sign in to Assay', '');
  expect(findings).toEqual([]);
  expect(complaints).toEqual([]);
});
