// What a page of a long list costs beyond writing its bytes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadProcess } from './load-process.ts';
import { listPage, type Page } from './session.ts';
import { median, quantile } from './statistics.ts';
import type { Place, Started } from './targets.ts';

const TOOL_COUNT = 10_000;
const MAX_PAGES = 1_000;

export interface ListCost {
  readonly pages: number;
  readonly bytesPerPage: number;
  readonly listedP50Ms: number;
  readonly plainP50Ms: number;
  readonly beyondP50Ms: number;
  readonly listedP99Ms: number;
}

/** Rejects unless the pages hold exactly the tools that the server has. */
export async function measureList(
  assay: Started,
  bench: { load: LoadProcess; place: Place; passes: number },
): Promise<ListCost> {
  const pages = await listAll(assay.endpoint);
  const names = new Set(pages.flatMap((page) => page.names));
  if (names.size !== TOOL_COUNT) {
    throw new Error(`listed ${String(names.size)} different tools instead of ${String(TOOL_COUNT)}`);
  }
  const folder = join(bench.place.scratch, 'pages');
  mkdirSync(folder, { recursive: true });
  const files = pages.map(({ bytes }, index) => {
    const file = join(folder, String(index));
    writeFileSync(file, bytes);
    return file;
  });
  const plain = await bench.place.peer('fixed-bytes.ts', files);
  const plainOrigin = new URL(plain.endpoint).origin;
  const { endpoint } = assay;
  await bench.load.listPages({ kind: 'pages', endpoint, plainOrigin, passes: 2 });
  const { passes } = bench;
  const outcome = await bench.load.listPages({ kind: 'pages', endpoint, plainOrigin, passes });
  const listedP50Ms = median(outcome.listedMs) ?? NaN;
  const plainP50Ms = median(outcome.plainMs) ?? NaN;
  return {
    pages: pages.length,
    bytesPerPage: median(pages.map(({ bytes }) => bytes.length)) ?? NaN,
    listedP50Ms,
    plainP50Ms,
    beyondP50Ms: listedP50Ms - plainP50Ms,
    listedP99Ms: quantile(outcome.listedMs, 0.99) ?? NaN,
  };
}

/** All pages of the endpoint's `tools/list`. */
export async function listAll(endpoint: string): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let cursor: string | undefined;
  do {
    const page = await listPage(endpoint, cursor);
    pages.push(page);
    cursor = page.nextCursor;
  } while (cursor !== undefined && pages.length < MAX_PAGES);
  return pages;
}
