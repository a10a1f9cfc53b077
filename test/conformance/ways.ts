import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EraChoice } from './everything/serve-everything.ts';
import type { Way } from './plan.ts';
import { MAIN, ROOT, type Programs, type Running } from './programs.ts';

export type ServerWay = Exclude<Way, 'as client'>;
export const SERVER_WAYS: readonly ServerWay[] = ['direct', 'through', 'to legacy', 'to modern'];

/** The target of the suite. */
export interface OpenWay {
  readonly url: string;
  close(): Promise<void>;
}

const ERAS: Readonly<Record<ServerWay, EraChoice>> = {
  direct: 'both',
  through: 'both',
  'to legacy': 'legacy',
  'to modern': 'modern',
};

/** Starts an everything server, with Assay in front of it unless the mode is direct. */
export async function openWay(way: ServerWay, programs: Programs, folder: string): Promise<OpenWay> {
  const server = programs.start([
    join(ROOT, 'test', 'conformance', 'everything', 'main.ts'),
    `--era=${ERAS[way]}`,
  ]);
  const url = await server.saying(URL_LINE);
  if (way === 'direct') return { url, close: () => server.end() };
  const assay = startAssay(url, programs, folder);
  const close = async (): Promise<void> => {
    await assay.end();
    await server.end();
  };
  const endpoint = `${await assay.saying(URL_LINE)}/all`;
  await untilUp(endpoint);
  return { url: endpoint, close };
}

const URL_LINE = /http:\/\/127\.0\.0\.1:\d+\/mcp(?=\s)/;

function startAssay(url: string, programs: Programs, folder: string): Running {
  const config = join(folder, 'mcp.json');
  // Without a prefix, as the scenarios call fixed names.
  writeFileSync(config, JSON.stringify({ mcpServers: { everything: { type: 'http', url, prefix: false } } }));
  return programs.start([MAIN, 'serve', '--config', config, '--port', '0', '--home', join(folder, 'home')]);
}

interface Health {
  readonly servers: readonly { readonly state: string }[];
}

async function untilUp(endpoint: string): Promise<void> {
  for (let triesLeft = 500; triesLeft > 0; triesLeft--) {
    const answer = await fetch(new URL('/health', endpoint)).catch(() => undefined);
    const health = (await answer?.json()) as Health | undefined;
    if (health?.servers[0]?.state === 'up') return;
    await sleep(20);
  }
  throw new Error(`The everything server did not come up behind ${endpoint}.`);
}
