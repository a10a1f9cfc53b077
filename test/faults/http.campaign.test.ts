import { beforeAll, describe, expect, it } from 'vitest';
import { startAsking } from '../fixtures/asking-http.ts';
import { rounds } from '../support/campaign.ts';
import { startAssay, type Assay } from '../support/assay.ts';
import { endLater } from '../support/endings.ts';
import { FAULTS, markOf, type Plan } from '../support/fault-plan.ts';
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy.ts';
import { openThings, settledTo } from '../support/open-things.ts';
import { fixture } from '../support/paths.ts';
import { seeded } from '../support/seeded.ts';
import { TRIALS, type Trial } from '../support/trial.ts';

/** Timeout in ms of everything that Assay waits for here. */
const LIMIT_MS = 1_000;
const AT_A_TIME = 10;
const ERAS = ['legacy', 'modern'] as const;
type Era = (typeof ERAS)[number];
/** More than any of these exchanges has messages, so that the last ones are hit, too. */
const MESSAGES = { client: { legacy: 10, modern: 9 }, server: { legacy: 8, modern: 5 } } as const;

const chance = seeded('faults over HTTP');
const dead = new Map<string, () => void>();
let assay: Assay;
/** The proxy between the clients and Assay. */
let front: FaultProxy;
let trials = 0;

beforeAll(async () => {
  const [legacy, modern] = await Promise.all([startAsking('legacy'), startAsking('modern')]);
  for (const one of [legacy, modern]) endLater(() => one.close());
  const behind = await Promise.all(
    [legacy, modern].map(({ url, sessions }) =>
      startFaultProxy({
        target: url,
        onKill: (_, ids) => {
          for (const id of ids) (sessions as Map<string, unknown>).delete(id);
        },
      }),
    ),
  );
  const isolated = { isolation: 'session', timeoutMs: LIMIT_MS * 4 };
  assay = await startAssay({
    servers: {
      // For faults between Assay and its servers.
      lh: { url: behind[0]?.url ?? '', timeoutMs: LIMIT_MS },
      mh: { url: behind[1]?.url ?? '', timeoutMs: LIMIT_MS },
      ls: fixture('faulty-asking', [], isolated),
      ms: fixture('faulty-asking', ['--era=modern'], isolated),
      // For faults between the clients and Assay.
      l: { url: legacy.url, timeoutMs: LIMIT_MS },
      m: { url: modern.url, timeoutMs: LIMIT_MS },
    },
    settings: { settings: { 'limits.questionMs': LIMIT_MS, 'limits.processesPerServer': 64 } },
    limits: { idleLinkMs: 300 },
  });
  await assay.settled();
  front = await startFaultProxy({ target: assay.url, onKill: (mark) => dead.get(mark)?.() });
});

interface Cell {
  readonly client: Era;
  readonly server: string;
  readonly side: 'client' | 'server';
}

async function tryOut({ client, server, side }: Cell, plan: Plan): Promise<Trial & { readonly plan: Plan }> {
  const mark = markOf(`trial-${++trials}`, plan);
  const url = side === 'client' ? front.url : assay.url;
  const options = { url, direct: assay.url, mark, tool: `${server}_ask` };
  return { ...(await TRIALS[client](options, (die) => dead.set(mark, die))), plan };
}

/** Tries all plans, a limited number concurrently. */
async function tryAll(
  cell: Cell,
  plans: readonly Plan[],
): Promise<readonly (Trial & { readonly plan: Plan })[]> {
  const left = [...plans];
  const done: (Trial & { readonly plan: Plan })[] = [];
  const work = async (): Promise<void> => {
    for (let plan = left.pop(); plan !== undefined; plan = left.pop()) done.push(await tryOut(cell, plan));
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return done;
}

const CELLS: readonly Cell[] = [
  ...ERAS.flatMap((client) => ['l', 'm'].map((server): Cell => ({ client, server, side: 'client' }))),
  ...ERAS.flatMap((client) => ['lh', 'mh', 'ls'].map((server): Cell => ({ client, server, side: 'server' }))),
  // Modern clients share the process of a modern server, so a fault would not affect one client only.
  { client: 'legacy', server: 'ms', side: 'server' },
];

describe.for(CELLS)(
  'a $client client and the server $server, with faults at the $side’s connection,',
  (cell) => {
    const eraOfServer: Era = cell.server.startsWith('l') ? 'legacy' : 'modern';
    const max = cell.side === 'client' ? MESSAGES.client[cell.client] : MESSAGES.server[eraOfServer];
    const all = FAULTS.flatMap((fault) => Array.from({ length: max }, (_, at): Plan => ({ fault, at })));
    const plans = chance.shuffled(all).slice(0, rounds({ short: AT_A_TIME, long: all.length }));

    it('finish every call whatever happens to a message, receive no foreign messages, and leave nothing open', async () => {
      // The first trial of its kind opens connections that are kept.
      await tryOut(cell, { fault: 'delay', at: 0 });
      const before = await openThings(assay);
      const tried = await tryAll(cell, plans);
      expect(tried).toHaveLength(plans.length);
      expect(tried.filter(({ hung }) => hung.length > 0)).toEqual([]);
      expect(tried.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
      // Delayed messages arrive, and a duplicate to a server is harmless.
      const isHarmless = ({ fault }: Plan): boolean =>
        fault === 'delay' || (fault === 'duplicate' && cell.side === 'server');
      // If the machine was too busy for these limits, the plan is tried once more, alone.
      for (const { plan, isDone } of tried)
        if (isHarmless(plan) && !isDone) expect(await tryOut(cell, plan)).toMatchObject({ isDone: true });
      const sessions =
        before.sessions + (cell.side === 'client' && cell.client === 'legacy' ? LOST_SESSIONS : 0);
      const idle = { ...before, sockets: before.sockets + SPARE_SOCKETS, sessions, privateLinks: 0 };
      const after = await settledTo(idle, assay, 20_000);
      expect(after).toMatchObject({ suspendedCalls: 0, privateLinks: 0, inFlight: 0 });
      expect(after.sessions).toBeLessThanOrEqual(sessions);
      expect(after.processes).toBeLessThanOrEqual(before.processes);
      expect(after.sockets).toBeLessThanOrEqual(idle.sockets);
      expect(after.files).toBeLessThanOrEqual(before.files);
    });
  },
);

/**
 * Sessions that a client cannot end, because it never learned their ids: the response was lost or cut off, the client
 * was killed, or the request was duplicated.
 */
const LOST_SESSIONS = 4;
/** Idle connections to servers that Assay keeps for reuse. */
const SPARE_SOCKETS = 40;

it('all clients and servers work normally after the faults', async () => {
  for (const client of ERAS)
    for (const server of ['l', 'm', 'lh', 'mh', 'ls', 'ms']) {
      const attempt = (): Promise<Trial> =>
        tryOut({ client, server, side: 'client' }, { fault: 'delay', at: 99 });
      const first = await attempt();
      const { isDone } = first.isDone ? first : await attempt();
      expect([client, server, isDone]).toEqual([client, server, true]);
    }
  expect(await assay.stop()).toBe(0);
});
