// What hints cost with many tools: a page of the REST API, a refresh, and the overhead per call.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { callsInPairs, type CallPair } from './call-pairs.ts';
import type { LoadProcess } from './load-process.ts';
import type { Plan } from './plan.ts';
import { median, quantile } from './statistics.ts';
import type { Place } from './targets.ts';

const TOOL_COUNT = 10_000;
const SMALL_COUNT = 500;
const OVERRIDE_COUNT = 1_000;
const AT_A_TIME = 8;
const ASKS = 50;

export interface HintCost {
  readonly tools: number;
  readonly overrides: number;
  /** Time of a page of 50 tools. */
  readonly pageP50Ms: number;
  readonly pageP99Ms: number;
  /** The same when filtering by effective hints. */
  readonly filteredP50Ms: number;
  readonly refreshedTools: number;
  readonly refreshP50Ms: number;
  /** With overrides on many tools including the called one, against none at all. */
  readonly rounds: readonly CallPair[];
}

/** Rejects on a wrong answer. */
export async function measureHints(
  place: Place,
  bench: { readonly load: LoadProcess; readonly plan: Plan },
): Promise<HintCost> {
  const echo = await place.echo(TOOL_COUNT);
  const small = await place.echo(SMALL_COUNT);
  const config = {
    mcpServers: { echo: { url: echo.endpoint, prefix: false }, small: { url: small.endpoint } },
  };
  const said = await place.assay('hints', config);
  const plain = await place.assay('hints-plain', config);
  const rest = restOf(place, said.endpoint);
  await override(rest);
  const pages: number[] = [];
  const filtered: number[] = [];
  const refreshes: number[] = [];
  for (let ask = 0; ask < ASKS; ask += 1) {
    pages.push(await timed(() => rest('GET', '/tools?limit=50')));
    filtered.push(await timed(() => rest('GET', '/tools?limit=50&idempotentHint=true')));
    refreshes.push(await timed(() => rest('POST', '/gateways/small/refresh')));
  }
  return {
    tools: TOOL_COUNT,
    overrides: OVERRIDE_COUNT,
    pageP50Ms: median(pages) ?? NaN,
    pageP99Ms: quantile(pages, 0.99) ?? NaN,
    filteredP50Ms: median(filtered) ?? NaN,
    refreshedTools: SMALL_COUNT,
    refreshP50Ms: median(refreshes) ?? NaN,
    rounds: await callsInPairs(said.endpoint, plain.endpoint, bench),
  };
}

type Rest = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) => Promise<unknown>;

function restOf(place: Place, endpoint: string): Rest {
  const { origin } = new URL(endpoint);
  const token = readFileSync(join(place.scratch, 'hints', 'admin-token'), 'utf8').trim();
  return async (method, path, body) => {
    const answer = await request(`${origin}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${text.slice(0, 500)}`);
    return JSON.parse(text) as unknown;
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

interface Page {
  readonly tools: readonly { readonly id: string; readonly name: string }[];
  readonly total: number;
}

/** Overrides hints of the first tools, `echo` among them. */
async function override(rest: Rest): Promise<void> {
  const read = async (): Promise<Page> =>
    (await rest('GET', `/tools?server=echo&limit=${String(OVERRIDE_COUNT)}`)) as Page;
  let page = await read();
  // Servers are listed in the background.
  while (page.total < TOOL_COUNT) {
    await sleep(50);
    page = await read();
  }
  if (!page.tools.some(({ name }) => name === 'echo'))
    throw new Error('the tool that is called is not among them');
  const ids = page.tools.map(({ id }) => id);
  const body = { annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true } };
  const work = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) await rest('PATCH', `/tools/${id}`, body);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
}
