// Fault injection: servers that crash or are killed, broken connections, config edits.
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLineOf, treeOf } from '../proc.ts';
import { tool } from './calls.ts';
import type { Chance } from './chance.ts';
import { callOf } from './crowd.ts';
import { type Actor, type Ground, seek } from './ground.ts';
import { GUESTS, type Household, WEB_GUEST } from './household.ts';
import { Talk } from './talk.ts';

/** Maximum time until an edit shows in `/health`, and its effect in an answer. */
const FOLLOWED_WITHIN_MS = 30_000;

export function troublemakers(household: Household, isQuick: boolean): readonly Actor[] {
  const editPauseMs = isQuick ? ([4_000, 8_000] as const) : ([12_000, 22_000] as const);
  return [
    { name: 'crash', pauseMs: [3_000, 15_000], act: callOf(fatalCall) },
    { name: 'killer', pauseMs: [3_000, 15_000], act: killOne },
    { name: 'editor', pauseMs: editPauseMs, act: (ground, chance) => edit(ground, household, chance) },
  ];
}

/** Restores all servers, and waits until Assay has followed. */
export async function mend({ gateway, tally }: Ground, household: Household): Promise<void> {
  for (const guest of GUESTS) household.label(guest, guest);
  await household.moveWebGuest();
  household.write(false);
  await untilFollowed({ gateway, tally }, household, 'mended');
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

function killOne({ gateway, tally }: Ground, chance: Chance): Promise<void> {
  const whom = chance.pick(['--label=victim', '--label=victim', '--label=guest_a', 'reaper']);
  const pid = treeOf(gateway.pid).find((one) => commandLineOf(one).includes(whom));
  tally.count(`SIGKILL for ${whom}`, pid === undefined ? 'it did not run' : 'sent');
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself between the check and the signal.
  }
  return Promise.resolve();
}

async function edit(ground: Ground, household: Household, chance: Chance): Promise<void> {
  const { entries } = household;
  const isInPlace = chance.happens(0.5);
  const guest = chance.pick(GUESTS);
  const kind = entries.has(guest)
    ? chance.pick(['remove', 'label', 'limit', 'move', 'break'] as const)
    : 'add';
  let label: string | undefined;
  switch (kind) {
    case 'remove':
      entries.delete(guest);
      break;
    case 'add':
    case 'label':
      label = `${guest}-${String(chance.between(0, 1e6))}`;
      household.label(guest, label);
      break;
    case 'limit':
      entries.set(guest, { ...entries.get(guest), timeoutMs: chance.between(9_000, 12_000) });
      break;
    case 'move':
      await household.moveWebGuest();
      break;
    case 'break':
      household.write(isInPlace, '{"mcpServers": {');
      await untilBroken(ground);
      break;
  }
  household.write(isInPlace);
  ground.tally.count('edit', `${kind}, ${isInPlace ? 'written in place' : 'renamed'}`);
  await untilFollowed(ground, household, kind);
  if (label !== undefined) await untilAnswering(ground, `${guest}_label`, label);
  if (kind === 'move') await untilAnswering(ground, `${WEB_GUEST}_echo`, 'moved');
}

async function untilBroken({ gateway, tally }: Ground): Promise<void> {
  const fault = await seek(FOLLOWED_WITHIN_MS, async () => (await gateway.health()).configFault);
  if (fault === undefined) tally.object('editor', 'a broken config was not told in /health');
  await sleep(500);
}

async function untilFollowed(
  { gateway, tally }: Pick<Ground, 'gateway' | 'tally'>,
  household: Household,
  what: string,
): Promise<void> {
  const wanted = household.names.toSorted().join(' ');
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
async function untilAnswering({ gateway, tally }: Ground, name: string, text: string): Promise<void> {
  const talk = new Talk(gateway.endpoint);
  let last = '';
  const params = { name, arguments: { message: text } };
  const isAnswered = await seek(FOLLOWED_WITHIN_MS, async () => {
    const { messages } = await talk.post({ era: 'modern', method: 'tools/call', params, id: talk.nextId() });
    last = JSON.stringify(messages.at(-1));
    return last.includes(`"text":"${text}"`) ? true : undefined;
  });
  await talk.close();
  if (isAnswered === undefined) tally.object('editor', `${name} never answered "${text}" but ${last}`);
}
