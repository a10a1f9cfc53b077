// The Run page in a real browser, with a real gateway whose server has every kind of tool and content.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { adminClient, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { listAt, textAt } from '../support/json.ts';
import { accessibilityFindings, openSignedIn, startBrowser, type SignedInPage } from '../support/pages.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

/** Refers to a part that it does not have. */
const DANGLING = { type: 'object', properties: { filter: { $ref: '#/$defs/Filter' } } };
const home = tempDir();
const LOG = join(home, 'fixture.log');
let assay: Gateway;
let admin: AdminClient;
let signedIn: SignedInPage;
let page: Page;
beforeAll(async () => {
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  assay = await startGateway({
    servers: {
      show: fixture('showcase', [], { env: { FIXTURE_LOG: LOG }, trust: true }),
      loose: filedServer([toolNamed('find', { inputSchema: DANGLING })]).entry,
    },
    settings: { settings: { 'policy.autoApproveReadOnly': true } },
    home,
  });
  await assay.settled();
  admin = adminClient(assay, token);
  signedIn = await openSignedIn(await startBrowser(), assay);
  ({ page } = signedIn);
  page.setDefaultTimeout(20_000);
});
// No test may run markup from a server, or have anything blocked by the content security policy.
beforeEach(({ onTestFailed }) => {
  onTestFailed(async () => console.log('The page shows:', await page.locator('body').innerText()));
  return () => {
    expect(signedIn.complaints).toEqual([]);
  };
});

async function open(tool: string, server = 'show'): Promise<void> {
  const id = textAt((await admin.get(`/tools/${server}.${tool}`)).json(), 'id');
  await page.goto(`http://127.0.0.1:${assay.port}/admin/tools/${id}/run`);
  await page.getByRole('heading', { name: 'Arguments' }).waitFor();
}

const output = () => page.getByRole('region', { name: 'Result' });
const question = () => page.getByRole('region', { name: 'Send this call?' });
const run = () => page.getByRole('button', { name: 'Run', exact: true });
const log = (): string => {
  try {
    return readFileSync(LOG, 'utf8');
  } catch {
    return ''; // The first call creates the file.
  }
};

it('a read-only tool runs without approval, with arguments that stay in sync between form and JSON', async () => {
  await open('read_note');
  await page.getByText('This tool only reads data').waitFor();
  await page.getByLabel('path').fill('a.md');
  await page.getByLabel('order').selectOption('oldest');
  await page.getByLabel('Raw').check();
  await page.getByRole('button', { name: 'Add to tags' }).click();
  await page
    .getByLabel(/tags-1|tags-0|tags/)
    .last()
    .fill('work');
  await page.getByLabel('author').fill('Ada');
  await page.getByText('JSON', { exact: true }).click();
  const json = page.getByRole('textbox', { name: 'Arguments as JSON' });
  expect(JSON.parse(await json.inputValue())).toEqual({
    path: 'a.md',
    order: 'oldest',
    isRaw: true,
    tags: ['work'],
    filter: { author: 'Ada' },
  });
  await json.fill('{"path": "b.md", "filter": {"author": "Bob"}}');
  await page.getByText('Form', { exact: true }).click();
  expect(await page.getByLabel('path').inputValue()).toBe('b.md');
  await run().click();
  await output().getByText('{"path":"b.md","filter":{"author":"Bob"}}').waitFor();
  expect(await question().count()).toBe(0);
});

it('invalid arguments are reported at their fields, and can be sent anyway', async () => {
  await open('read_note');
  await page.getByLabel('author').fill('Ada');
  await run().click();
  await page.getByText('The arguments do not match the tool’s input schema.').waitFor();
  expect(await page.locator('.argument-form .error-detail').allInnerTexts()).not.toEqual([]);
  await page.getByRole('button', { name: 'Run anyway' }).click();
  await output().getByText('"author":"Ada"').waitFor();
  await page.getByText('JSON', { exact: true }).click();
  await page.getByRole('textbox', { name: 'Arguments as JSON' }).fill('[');
  await page.getByText('This is not a JSON object.').waitFor();
  expect(await run().isDisabled()).toBe(true);
});

it('a schema that refers to a part that it lacks gets no form, and the page says why', async () => {
  await open('find', 'loose');
  await page.getByText('The input schema refers to #/$defs/Filter, a part that it does not have.').waitFor();
  expect(await page.getByText('Form', { exact: true }).count()).toBe(0);
  await page.getByRole('textbox', { name: 'Arguments as JSON' }).fill('{"filter": {"author": "Ada"}}');
  expect(await run().isDisabled()).toBe(false);
});

it('a destructive tool waits for approval: it is not called if denied, and called once if approved', async () => {
  await open('delete_note');
  await page.getByText('This tool may make destructive changes').waitFor();
  await page.getByLabel('path').fill('old.md');
  await run().click();
  await question().getByText('old.md').waitFor();
  // Pressing Enter again must not approve the call.
  await page.keyboard.press('Enter');
  await question().getByRole('button', { name: 'Deny' }).click();
  await output()
    .getByText(/denied/i)
    .waitFor();
  expect(log()).not.toContain('deleted');
  await run().click();
  await question().getByRole('button', { name: 'Approve once' }).click();
  await output().getByText('Deleted old.md').waitFor();
  expect(log().match(/"deleted"/g)).toHaveLength(1);
  await run().click();
  await question().waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await output().getByText('Cancelled').waitFor();
  await until('nothing waits in the inbox', async () =>
    listAt((await admin.get('/approvals?state=pending')).json(), 'approvals').length === 0 ? true : undefined,
  );
});

it('a tool confirmed once per session runs without asking after its first approval', async () => {
  await admin.ask('PATCH', '/tools/show.set_note', { body: { confirm: 'first' } });
  await open('set_note');
  await page.getByText('This tool changes data').waitFor();
  await run().click();
  await question().getByRole('button', { name: 'Approve always' }).click();
  await output().getByText('set', { exact: true }).waitFor();
  await run().click();
  await output().getByText('Done').waitFor();
  expect(await question().count()).toBe(0);
});

it('a long-running tool shows progress and messages, and its server is notified of a cancellation', async () => {
  await open('index_notes');
  await run().click();
  await page.getByText('21 of 50').waitFor();
  const bar = page.getByRole('progressbar', { name: 'Progress of the call' });
  expect([await bar.getAttribute('value'), await bar.getAttribute('max')]).toEqual(['21', '50']);
  await page.getByText('reading <img').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await output().getByText('Cancelled').waitFor();
  await until('the server has heard it', () => (log().includes('cancelled') ? true : undefined));
});

it('each content type of a result is shown, and a tool error is marked as an error', async () => {
  await open('show_all');
  await run().click();
  await output().getByText('A text with an invisible U+202E character').waitFor();
  await expect.poll(() => page.evaluate('document.querySelector("figure img").naturalWidth')).toBe(1);
  expect(await output().locator('audio').getAttribute('src')).toMatch(/^data:audio\/wav;base64,/);
  for (const text of [
    'text of a resource',
    'application/zip',
    'A link · of a server',
    '"hologram"',
    '"isComplete": true',
  ])
    await output().getByText(text).waitFor();
  // A link from a server is shown as text and cannot be followed.
  await output().getByText('javascript:window.hacked=1').waitFor();
  expect(await output().locator('a:not([download])').count()).toBe(0);
  await page.getByRole('button', { name: 'Show the whole result as JSON' }).click();
  await page.getByLabel('Result as JSON').waitFor();
  await open('silent');
  await run().click();
  await question().getByRole('button', { name: 'Approve once' }).click();
  await output().getByText('The tool reported an error').waitFor();
});

it('markup in names, descriptions, schemas and results is shown as text', async () => {
  await open('markup');
  await page.getByRole('button', { name: 'Run' }).click();
  await output().getByText('Done').waitFor();
  expect(await page.getByText('<img src=x onerror=').count()).toBeGreaterThan(4);
  expect(await page.evaluate('[window.hacked, document.querySelector("main img")]')).toEqual([
    undefined,
    null,
  ]);
});

it('a tool can be run and approved with the keyboard alone', async () => {
  await open('delete_note');
  await page.getByLabel('path').focus();
  await page.keyboard.type('by-keys.md');
  await page.keyboard.press('Enter');
  await question().waitFor();
  expect(await page.evaluate('document.activeElement.className')).toBe('question');
  await page.keyboard.press('a');
  await output().getByText('Deleted by-keys.md').waitFor();
});

it('a user with only the read scope sees the page, with Run disabled and the reason', async () => {
  const context = await page.context().browser()?.newContext();
  const other = await context?.newPage();
  if (other === undefined) throw new Error('no browser');
  await other.goto(page.url());
  await other.getByLabel('Token').fill(await keepToken(home, 'reader', { scopes: ['read'] }));
  await other.getByRole('button', { name: 'Sign in' }).click();
  await other.getByText('Running a tool requires the scope admin.').waitFor();
  expect(await other.getByRole('button', { name: 'Run' }).isDisabled()).toBe(true);
  await context?.close();
});

it('the page has no accessibility violations while asking or after a run, wide or narrow, light or dark', async () => {
  const findings: string[] = [];
  for (const width of [1_200, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await open('read_note');
    findings.push(...(await accessibilityFindings(page)));
    await open('show_all');
    await run().click();
    await output().getByText('Done').waitFor();
    findings.push(...(await accessibilityFindings(page)));
    await open('delete_note');
    await page.getByLabel('path').fill('a.md');
    await run().click();
    await question().waitFor();
    findings.push(...(await accessibilityFindings(page)));
    await question().getByRole('button', { name: 'Deny' }).click();
    await output()
      .getByText(/denied/i)
      .waitFor();
    const scrolls = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    expect([width, await page.evaluate(scrolls)]).toEqual([width, false]);
  }
  expect(findings).toEqual([]);
});
