// How long the admin pages take with 10,000 tools in a real browser, and how long they block it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import { request } from 'undici';
import type { Plan } from './plan.ts';
import { median } from './statistics.ts';
import { type Place, waitFor } from './targets.ts';

const TOOL_COUNT = 10_000;
const WITHIN_MS = 30_000;

interface Measured {
  readonly name: string;
  readonly path: string;
  /** Shown once the page can be used. */
  readonly shows: string;
  /** What a person does next; counts for the longest task. */
  readonly use?: (page: Page) => Promise<void>;
}

const PAGES: readonly Measured[] = [
  { name: 'Overview', path: '', shows: '.card[data-ready="true"]' },
  { name: 'Tools', path: 'tools', shows: '.tool-list .row', use: useTools },
  { name: 'Servers', path: 'servers', shows: 'main .row' },
  { name: 'Activity', path: 'activity', shows: 'main .empty, main .row' },
  { name: 'Approvals', path: 'approvals', shows: 'main .empty, main .row' },
  { name: 'Settings', path: 'settings', shows: 'main .setting' },
];

export interface PageCost {
  readonly tools: number;
  readonly pages: readonly {
    readonly name: string;
    /** From the navigation to what the page shows, with an empty cache: median over the rounds. */
    readonly interactiveMs: number;
    /** The longest task of a load and of what follows: median over the rounds; 0 if none took 50 ms. */
    readonly longestTaskMs: number;
    readonly worstTaskMs: number;
  }[];
}

/** Rejects if a page does not show what it should. */
export async function measurePages(place: Place, { plan }: { readonly plan: Plan }): Promise<PageCost> {
  const echo = await place.echo(TOOL_COUNT);
  const config = { mcpServers: { echo: { url: echo.endpoint, prefix: false } } };
  const assay = await place.assay('pages', config);
  const { origin } = new URL(assay.endpoint);
  const token = readFileSync(join(place.scratch, 'pages', 'admin-token'), 'utf8').trim();
  await waitFor(assay.running, () => missingTools(origin, token));
  const browser = await chromium.launch({
    executablePath: process.env['ASSAY_TEST_CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  try {
    const pages: PageCost['pages'][number][] = [];
    for (const one of PAGES) {
      const rounds: Round[] = [];
      for (let round = 0; round < plan.pageRounds; round += 1)
        rounds.push(await roundOf(browser, one, { origin, token }));
      const tasks = rounds.map(({ longestTaskMs }) => longestTaskMs);
      pages.push({
        name: one.name,
        interactiveMs: median(rounds.map(({ interactiveMs }) => interactiveMs)) ?? NaN,
        longestTaskMs: median(tasks) ?? NaN,
        worstTaskMs: Math.max(...tasks),
      });
    }
    return { tools: TOOL_COUNT, pages };
  } finally {
    await browser.close();
  }
}

async function missingTools(origin: string, token: string): Promise<string | undefined> {
  const answer = await request(`${origin}/tools?limit=1`, { headers: { authorization: `Bearer ${token}` } });
  const { total } = (await answer.body.json()) as { readonly total?: number };
  return total === TOOL_COUNT ? undefined : `${String(total)} tools are listed`;
}

interface Round {
  readonly interactiveMs: number;
  readonly longestTaskMs: number;
}

const OBSERVE = `
  window.longTasks = [];
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: 'longtask', buffered: true });
`;

/** A browser that knows nothing yet but its cookie. */
async function roundOf(
  browser: Browser,
  { path, shows, use }: Measured,
  { origin, token }: { readonly origin: string; readonly token: string },
): Promise<Round> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const signedIn = await context.request.post(`${origin}/admin/sign-in`, {
      data: { token },
      headers: { origin },
    });
    if (!signedIn.ok()) throw new Error(`signing in got status ${String(signedIn.status())}`);
    const page = await context.newPage();
    await page.addInitScript(OBSERVE);
    await page.addInitScript(watch(shows));
    await page.goto(`${origin}/admin/${path}`);
    await until(page, 'window.shownAtMs !== undefined');
    await quiet(page);
    await use?.(page);
    await quiet(page);
    return {
      interactiveMs: await page.evaluate<number>('window.shownAtMs'),
      longestTaskMs: await page.evaluate<number>('Math.max(0, ...window.longTasks)'),
    };
  } finally {
    await context.close();
  }
}

/** Notes in the page when it first shows something, so that no round trip of the driver counts. */
function watch(shows: string): string {
  return `
    const look = () => {
      if (document.querySelector(${JSON.stringify(shows)}) === null) return requestAnimationFrame(look);
      window.shownAtMs = performance.now();
    };
    requestAnimationFrame(look);
  `;
}

/** Waits until nothing was loaded for half a second. */
async function quiet(page: Page): Promise<void> {
  await until(
    page,
    `(() => {
    const entries = performance.getEntriesByType('resource');
    const last = Math.max(0, ...entries.map((one) => one.responseEnd));
    return performance.now() - last > 500;
  })()`,
  );
}

/** The content-security policy forbids the driver's own way to wait for an expression. */
async function until(page: Page, expression: string): Promise<void> {
  const untilMs = performance.now() + WITHIN_MS;
  while ((await page.evaluate(expression)) !== true) {
    if (performance.now() > untilMs) throw new Error(`not within ${String(WITHIN_MS)} ms: ${expression}`);
    await sleep(20);
  }
}

/** Scrolls through the list, searches, and empties the search again. */
async function useTools(page: Page): Promise<void> {
  await page.hover('.tool-list');
  for (let step = 0; step < 10; step += 1) await page.mouse.wheel(0, 4_000);
  await page.keyboard.press('/');
  await page.keyboard.type('tool 77', { delay: 20 });
  for (let key = 0; key < 7; key += 1) await page.keyboard.press('Backspace');
  await until(page, 'document.querySelectorAll(".tool-list .row").length > 5');
}
