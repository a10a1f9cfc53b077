// Fault injection: servers that crash or are killed, broken connections, config edits.
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLineOf, treeOf } from '../proc.ts';
import { tool } from './calls.ts';
import type { Chance } from './chance.ts';
import { callOf } from './http-clients.ts';
import { type Actor, type SoakContext, seek } from './soak-context.ts';
import { REMOVABLE, type TestServers, REMOVABLE_WEB } from './test-servers.ts';
import { HttpClient } from './http-client.ts';

/** Maximum time until an edit shows in `/health`, and its effect in an answer. */
const FOLLOWED_WITHIN_MS = 30_000;

export function faultActors(servers: TestServers, isQuick: boolean): readonly Actor[] {
  const editPauseMs = isQuick ? ([4_000, 8_000] as const) : ([12_000, 22_000] as const);
  return [
    { name: 'crash', pauseMs: [3_000, 15_000], act: callOf(fatalCall) },
    { name: 'killer', pauseMs: [3_000, 15_000], act: killOne },
    { name: 'editor', pauseMs: editPauseMs, act: (context, chance) => edit(context, servers, chance) },
  ];
}

/** Restores all servers, and waits until Assay has followed. */
export async function restoreServers({ gateway, tally }: SoakContext, servers: TestServers): Promise<void> {
  for (const removable of REMOVABLE) servers.label(removable, removable);
  await servers.moveRemovableWeb();
  servers.write(false);
  await untilFollowed({ gateway, tally }, servers, 'mended');
}

function fatalCall(chance: Chance): ReturnType<typeof tool> {
  return chance.pick([
    { ...tool('crasher_crash', {}, 'never'), role: 'fragile' as const },
    { ...tool('crasher_last-words', {}, 'never'), role: 'fragile' as const },
    { ...tool('sse_drop', {}, 'never'), role: 'fragile' as const },
    { ...tool('old_forget', {}, 'forgotten'), role: 'fragile' as const },
    { ...tool('old_cut', {}, 'never'), role: 'fragile' as const },
  ]);
}

function killOne({ gateway, tally }: SoakContext, chance: Chance): Promise<void> {
  const whom = chance.pick(['--label=victim', '--label=victim', '--label=removable_a', 'reaper']);
  const pid = treeOf(gateway.pid).find((one) => commandLineOf(one).includes(whom));
  tally.count(`SIGKILL for ${whom}`, pid === undefined ? 'it did not run' : 'sent');
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself between the check and the signal.
  }
  return Promise.resolve();
}

async function edit(context: SoakContext, servers: TestServers, chance: Chance): Promise<void> {
  const { entries } = servers;
  const isInPlace = chance.happens(0.5);
  const removable = chance.pick(REMOVABLE);
  const kind = entries.has(removable)
    ? chance.pick(['remove', 'label', 'limit', 'move', 'break'] as const)
    : 'add';
  let label: string | undefined;
  switch (kind) {
    case 'remove':
      entries.delete(removable);
      break;
    case 'add':
    case 'label':
      label = `${removable}-${String(chance.between(0, 1e6))}`;
      servers.label(removable, label);
      break;
    case 'limit':
      entries.set(removable, { ...entries.get(removable), timeoutMs: chance.between(9_000, 12_000) });
      break;
    case 'move':
      await servers.moveRemovableWeb();
      break;
    case 'break':
      servers.write(isInPlace, '{"mcpServers": {');
      await untilBroken(context);
      break;
  }
  servers.write(isInPlace);
  context.tally.count('edit', `${kind}, ${isInPlace ? 'written in place' : 'renamed'}`);
  await untilFollowed(context, servers, kind);
  if (label !== undefined) await untilAnswering(context, `${removable}_label`, label);
  if (kind === 'move') await untilAnswering(context, `${REMOVABLE_WEB}_echo`, 'moved');
}

async function untilBroken({ gateway, tally }: SoakContext): Promise<void> {
  const fault = await seek(FOLLOWED_WITHIN_MS, async () => (await gateway.health()).configFault);
  if (fault === undefined) tally.object('editor', 'a broken config was not told in /health');
  await sleep(500);
}

async function untilFollowed(
  { gateway, tally }: Pick<SoakContext, 'gateway' | 'tally'>,
  servers: TestServers,
  what: string,
): Promise<void> {
  const wanted = servers.names.toSorted().join(' ');
  const shown = async (): Promise<string> => {
    const { servers, configFault } = await gateway.health();
    const names = servers.map(({ name }) => name).toSorted();
    return configFault ?? names.join(' ');
  };
  const isFollowed = await seek(FOLLOWED_WITHIN_MS, async () =>
    (await shown()) === wanted ? true : undefined,
  );
  if (isFollowed === undefined)
    tally.object('editor', `the edit "${what}" was not followed: ${await shown()} instead of ${wanted}`);
}

/** Waits until the server's current version answers; until then the old one may, or none. */
async function untilAnswering({ gateway, tally }: SoakContext, name: string, text: string): Promise<void> {
  const client = new HttpClient(gateway);
  let last = '';
  const params = { name, arguments: { message: text } };
  const isAnswered = await seek(FOLLOWED_WITHIN_MS, async () => {
    const { messages } = await client.post({
      era: 'modern',
      method: 'tools/call',
      params,
      id: client.nextId(),
    });
    last = JSON.stringify(messages.at(-1));
    return last.includes(`"text":"${text}"`) ? true : undefined;
  });
  await client.close();
  if (isAnswered === undefined) tally.object('editor', `${name} never answered "${text}" but ${last}`);
}
