// Assay's own memory: idle with the three example servers, and over many calls of all kinds.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { LoadProcess } from './load-process.ts';
import { listAll } from './lists.ts';
import type { Stream } from './load-jobs.ts';
import { type Plan, SMALL_BYTES } from './plan.ts';
import { rssMbOf } from './proc.ts';
import { echoCommand, type Place, ROOT, untilEchoes, waitFor } from './targets.ts';

const SETTLE_MS = 1_000;

export interface Idle {
  readonly servers: readonly string[];
  readonly rssMb: number | undefined;
}

export async function measureIdle(place: Place, plan: Plan): Promise<Idle> {
  const prepare = join(ROOT, 'examples', 'prepare.mjs');
  if (existsSync(prepare)) {
    await promisify(execFile)(process.execPath, [prepare], { cwd: ROOT });
  }
  const file = join(ROOT, 'examples', 'mcp.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: object };
  const servers = Object.keys(config.mcpServers);
  const assay = await place.assay('assay-idle', file);
  await waitFor(assay.running, async () => {
    const names = (await listAll(assay.endpoint)).flatMap((page) => page.names);
    return servers.find((server) => !names.some((name) => name.startsWith(`${server}_`)));
  });
  await sleep(plan.idleSettleMs);
  const rssMb = rssMbOf(assay.running.pid);
  assay.running.end();
  return { servers, rssMb };
}

export interface Growth {
  readonly fromCall: number;
  readonly toCall: number;
  readonly fromMb: number | undefined;
  readonly toMb: number | undefined;
  readonly growthMb: number | undefined;
}

/** Calls of both eras to an HTTP and to a stdio server at once; rejects on the first wrong answer. */
export async function measureGrowth(place: Place, bench: { load: LoadProcess; plan: Plan }): Promise<Growth> {
  const echo = await place.echo(10);
  const mcpServers = { web: { url: echo.endpoint }, pipe: echoCommand() };
  const assay = await place.assay('assay-growth', { mcpServers });
  const started = { endpoint: assay.endpoint, proxy: assay.running, behind: [] };
  const streams: Stream[] = [
    { era: 'modern', tool: 'web_echo' },
    { era: 'modern', tool: 'pipe_echo' },
    { era: 'legacy', tool: 'web_echo' },
    { era: 'legacy', tool: 'pipe_echo' },
  ];
  for (const { era, tool } of streams) await untilEchoes(started, era, tool);
  const rssAfter = async (calls: number): Promise<number | undefined> => {
    const outcome = await bench.load.call(
      {
        kind: 'calls',
        endpoint: assay.endpoint,
        streams,
        concurrency: 64,
        payloadBytes: SMALL_BYTES,
        warmUpMs: 0,
        until: { calls },
      },
      () => undefined,
    );
    if (outcome.flaw !== undefined) throw new Error(outcome.flaw);
    await sleep(SETTLE_MS);
    return rssMbOf(assay.running.pid);
  };
  const { fromCall, toCall } = bench.plan.growth;
  const fromMb = await rssAfter(fromCall);
  const toMb = await rssAfter(toCall - fromCall);
  assay.running.end();
  const growthMb = fromMb === undefined || toMb === undefined ? undefined : toMb - fromMb;
  return { fromCall, toCall, fromMb, toMb, growthMb };
}
