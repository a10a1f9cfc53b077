import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type Page } from 'playwright-core';
import { mintSession } from '../../packages/gateway/src/adapters/auth/mint-token.ts';
import { createSignInLink } from '../../packages/gateway/src/gateway/services/sign-in-links.ts';
import type { Gateway } from './assay.ts';
import { endLater } from './endings.ts';
import { tryStore, valueOf } from './store-values.ts';

/** The Chromium that `npm run setup` installs; tests run as root in containers, where its sandbox cannot start. */
export async function startBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: process.env['ASSAY_TEST_CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  endLater(() => browser.close());
  return browser;
}

/** A link as `assay token link` prints it. */
export async function signInLink({ home, port }: Gateway): Promise<string> {
  const store = valueOf(await tryStore({ home, databaseUrl: undefined }));
  const deps = { store, mint: mintSession, nowMs: Date.now(), by: 'local' };
  const link = await createSignInLink(`http://127.0.0.1:${port}`, deps);
  await store.close();
  return valueOf(link).url;
}

export interface SignedInPage {
  readonly page: Page;
  /** Problems in the browser: exceptions, blocked content, requests to other origins. */
  readonly complaints: readonly string[];
}

export async function openSignedIn(browser: Browser, assay: Gateway): Promise<SignedInPage> {
  const opened = await openPage(browser, assay);
  await opened.page.goto(await signInLink(assay));
  await opened.page.getByRole('heading', { name: 'Overview' }).waitFor();
  return opened;
}

/** Signs in with a token, and so with its scopes. */
export async function signInBy(browser: Browser, assay: Gateway, token: string): Promise<SignedInPage> {
  const opened = await openPage(browser, assay);
  const { page } = opened;
  await page.goto(`http://127.0.0.1:${assay.port}/admin`);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return opened;
}

async function openPage(browser: Browser, assay: Gateway): Promise<SignedInPage> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|Refused/.test(message.text())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (new URL(request.url()).host !== `127.0.0.1:${assay.port}` && !request.url().startsWith('data:'))
      complaints.push(`a request to ${request.url()}`);
  });
  return { page, complaints };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe finds on the page, in light and in dark mode. */
export async function accessibilityFindings(page: Page): Promise<readonly string[]> {
  const findings: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    const run = `(() => { if (window.axe === undefined) { ${AXE} } return axe.run(document, { runOnly: ${JSON.stringify(RULES)} }); })()`;
    const { violations, passes } = await page.evaluate<AxeResults>(run);
    if (passes.length === 0) findings.push('axe checked nothing');
    for (const { id, nodes } of violations)
      findings.push(...nodes.map(({ html }) => `${colorScheme} ${id}: ${html.slice(0, 200)}`));
  }
  return findings;
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
  readonly passes: readonly unknown[];
}
