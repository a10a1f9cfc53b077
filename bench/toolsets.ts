// The cost of many toolsets: how soon clients learn of a newly equipped one, and the overhead per call.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { callsInPairs, type CallPair } from './call-pairs.ts';
import type { LoadProcess } from './load-process.ts';
import type { Plan } from './plan.ts';
import { catalogPages } from './peers/catalog.ts';
import { median, quantile } from './statistics.ts';
import { builtMain, type Place } from './targets.ts';

const TOOL_COUNT = 10_000;
const TOOLSET_COUNT = 500;
const TOOLS_EACH = 100;
const HEARD_WITHIN_MS = 5_000;

export interface ToolsetCost {
  readonly toolsets: number;
  readonly tools: number;
  /** From calling equip-toolset until another client is notified of its changed list. */
  readonly heardP50Ms: number;
  readonly heardP99Ms: number;
  readonly equippings: number;
  /** At `/mcp` with a toolset equipped, against `/mcp/all`. */
  readonly rounds: readonly CallPair[];
}

/** Rejects on a wrong answer, or if a client is not notified. */
export async function measureToolsets(
  place: Place,
  bench: { load: LoadProcess; plan: Plan },
): Promise<ToolsetCost> {
  const echo = await place.echo(TOOL_COUNT);
  const config = { mcpServers: { echo: { url: echo.endpoint, prefix: false } } };
  importToolsets(place);
  const { endpoint } = await place.assay('toolsets', config);
  const equipped = endpoint.replace(/\/all$/, '');
  const equippings = 10 * bench.plan.rounds;
  const heardMs = await hearEquippings(equipped, equippings);
  const rounds = await callsInPairs(equipped, endpoint, bench);
  return {
    toolsets: TOOLSET_COUNT,
    tools: TOOL_COUNT,
    heardP50Ms: median(heardMs) ?? NaN,
    heardP99Ms: quantile(heardMs, 0.99) ?? NaN,
    equippings,
    rounds,
  };
}

/** Toolsets with varied selections of tools, always including `echo`. */
function importToolsets(place: Place): void {
  const names = catalogPages(TOOL_COUNT).flatMap((page) =>
    [...page.matchAll(/\{"name":"([^"]+)"/g)].map(([, name]) => name ?? ''),
  );
  const toolsets = Array.from({ length: TOOLSET_COUNT }, (_, index) => ({
    ...{ name: `set-${String(index)}`, createdMs: 0, changedMs: 0, toolNotes: [] },
    tools: Array.from({ length: TOOLS_EACH }, (_tool, at) => ({
      namespacedName: `echo.${at === 0 ? 'echo' : (names[1 + ((index * 37 + at * 97) % (TOOL_COUNT - 1))] ?? '')}`,
    })),
  }));
  const home = join(place.scratch, 'toolsets');
  mkdirSync(home, { recursive: true });
  const file = join(home, 'toolsets.json');
  const records = [
    ...toolsets.map((body) => ({ kind: 'toolset', version: 1, body })),
    { kind: 'equipped', version: 1, body: { toolset: 'set-0' } },
  ];
  writeFileSync(file, JSON.stringify({ assay: 1, records }));
  const empty = join(home, 'empty.json');
  writeFileSync(empty, '{"mcpServers":{}}');
  const args = [builtMain(), 'import', file, '--apply', '--home', home, '--config', empty];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the toolsets were not imported: ${stderr.slice(0, 500)}`);
}

/** One client equips toolsets, another waits for the notifications. */
async function hearEquippings(equipped: string, times: number): Promise<readonly number[]> {
  let heard = (): void => undefined;
  const listener = await connect(equipped, (client) => {
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      heard();
    });
  });
  await listener.listen({ toolsListChanged: true });
  const operator = await connect(`${equipped}/configuration`);
  const tookMs: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const told = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error('a client was not told that its list has changed'));
      }, HEARD_WITHIN_MS);
      heard = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    const startedMs = performance.now();
    const name = `set-${String(1 + (time % (TOOLSET_COUNT - 1)))}`;
    const equipping = operator.callTool({ name: 'equip-toolset', arguments: { name } });
    await told;
    tookMs.push(performance.now() - startedMs);
    if ((await equipping).isError === true) throw new Error(`${name} could not be equipped`);
  }
  await Promise.all([listener.close(), operator.close()]);
  return tookMs;
}

async function connect(url: string, before: (client: Client) => void = () => undefined): Promise<Client> {
  const client = new Client(
    { name: 'assay-bench', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  before(client);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}
