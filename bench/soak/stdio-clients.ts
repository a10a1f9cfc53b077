// Clients that start their own `assay stdio`, use it briefly and stop it, cleanly or not.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Era, INITIALIZE_PARAMS } from '../messages.ts';
import type { PipeClient } from '../pipe-client.ts';
import { pidsNaming } from '../proc.ts';
import { builtMain, peerFile, type Place } from '../targets.ts';
import type { Chance } from './chance.ts';
import { type Actor, type SoakContext, seek } from './soak-context.ts';
import { fixture } from './test-servers.ts';

const LISTED_WITHIN_MS = 60_000;
const GONE_WITHIN_MS = 20_000;
const TOOLS = ['pipe_echo', 'plain_sleep'];

/** Each has its own config and shares the home folder of the Assay under test, as on a developer's machine. */
export function stdioClients(place: Place, home: string): readonly Actor[] {
  return ['1', '2'].map((one) => {
    const clients = new StdioClients(place, { home, name: `pipe-${one}` });
    return {
      name: `assay stdio ${one}`,
      pauseMs: [1_000, 6_000],
      act: (context, chance) => clients.runOne(context, chance),
    };
  });
}

class StdioClients {
  readonly #place: Place;
  readonly #args: readonly string[];
  readonly #mark: string;

  constructor(place: Place, { home, name }: { readonly home: string; readonly name: string }) {
    this.#place = place;
    const folder = join(place.scratch, name);
    mkdirSync(folder, { recursive: true });
    this.#mark = `--soak=${folder}/`;
    const config = join(folder, 'mcp.json');
    const pipe = { command: process.execPath, args: [peerFile('echo-stdio.ts'), this.#mark] };
    writeFileSync(config, JSON.stringify({ mcpServers: { pipe, plain: fixture('plain', this.#mark) } }));
    this.#args = [builtMain(), 'stdio', '--all', '--config', config, '--home', home];
  }

  async runOne({ tally }: SoakContext, chance: Chance): Promise<void> {
    const era = chance.pick(['legacy', 'modern'] as const);
    const client = this.#place.pipe(this.#args);
    const how = chance.pick(['closes stdin', 'SIGTERM', 'SIGKILL'] as const);
    // Some end without any message; a signal may then come before Node handles signals.
    const isUsed = chance.happens(0.9);
    try {
      if (isUsed) await use(client, era, { tally, chance });
    } finally {
      if (how === 'SIGTERM' || how === 'SIGKILL') client.child.kill(how);
      const end = await client.end(GONE_WITHIN_MS);
      const isCut = how === 'SIGKILL' || (how === 'SIGTERM' && !isUsed);
      const isRight = end === how ? isCut : end === 0;
      if (isRight) tally.count('assay stdio', `${how}, ended`);
      else tally.object('assay stdio', `${how}, and it ended with ${String(end)}`);
      await this.#untilGone(tally, how);
    }
  }

  /** After SIGKILL the reaper needs time to clean up; it is also under test. */
  async #untilGone(tally: SoakContext['tally'], how: string): Promise<void> {
    const isGone = await seek(GONE_WITHIN_MS, () =>
      Promise.resolve(pidsNaming(this.#mark).length === 0 ? true : undefined),
    );
    if (isGone === true) return;
    const left = pidsNaming(this.#mark);
    tally.object('assay stdio', `${how}, and these were left: ${left.join(', ')}`);
    for (const pid of left) process.kill(pid, 'SIGKILL');
  }
}

async function use(
  client: PipeClient,
  era: Era,
  { tally, chance }: { readonly tally: SoakContext['tally']; readonly chance: Chance },
): Promise<void> {
  if (era === 'legacy') {
    await client.ask('initialize', INITIALIZE_PARAMS);
    client.notify('notifications/initialized');
  }
  const isListed = await seek(LISTED_WITHIN_MS, async () => {
    const names = await client.tools(era);
    return TOOLS.every((name) => names.includes(name)) ? true : undefined;
  });
  if (isListed === undefined) throw new Error('its tools were never listed');
  for (let left = chance.between(1, 20); left > 0; left -= 1) {
    const message = `soak ${String(chance.between(0, 1e9))}`;
    const said = await client.ask('tools/call', { name: 'pipe_echo', arguments: { message } }, era);
    tally.calls += 1;
    const isRight = JSON.stringify(said.result ?? '').includes(`"text":"${message}"`);
    if (isRight) tally.count(`${era} stdio pipe_echo`, 'right');
    else tally.object(`${era} stdio pipe_echo`, JSON.stringify(said));
  }
  const params = { name: 'plain_sleep', arguments: { ms: 3_000 } };
  const { id } = client.begin('tools/call', params, era);
  await sleep(chance.between(0, 100));
  client.notify('notifications/cancelled', { requestId: id });
  await client.ask('tools/list', {}, era);
  if (client.hasAnswered(id)) tally.object('stdio canceller', 'a cancelled request got a response');
  else tally.count('stdio canceller', 'got no response');
}
