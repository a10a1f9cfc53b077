import { describe, expect, it } from 'vitest';
import { startAssay, type Assay } from '../support/assay.ts';
import { isAlive, sleep, until } from '../support/endings.ts';
import { at, type JsonObject } from '../support/json.ts';
import { openSession, textOf } from '../support/legacy.ts';
import { modernCall } from '../support/modern.ts';
import { openThings } from '../support/open-things.ts';
import { fixture, openEventLog, type EventLog } from '../support/paths.ts';
import { childrenOf } from '../support/processes.ts';
import { codeOf, formOf, modernStep, openAskable, untilAsked } from '../support/questions.ts';
import { spawnStdio } from '../support/stdio.ts';

const ROUNDS = { rounds: [[formOf('Who?')]] };
const isolated = (eventLog: EventLog = openEventLog(), era = 'legacy'): JsonObject =>
  fixture('asking', [`--era=${era}`], { isolation: 'session', env: eventLog.env });

async function started(servers: JsonObject, limits: JsonObject = {}): Promise<Assay> {
  const assay = await startAssay({ servers, settings: { settings: limits } });
  await assay.settled();
  return assay;
}

function serversOf(assay: Assay): readonly number[] {
  return childrenOf(assay.pid)
    .filter(({ command }) => command.includes('asking.ts'))
    .map(({ pid }) => pid);
}

const gone = (pids: readonly number[]): Promise<true> =>
  until('all are gone', () => (pids.some(isAlive) ? undefined : true), 15_000);

describe('a server with "isolation": "session"', () => {
  it.for(['legacy', 'modern'])(
    'of the %s era has one process per legacy session, until that ends',
    async (era) => {
      const assay = await started({ s: isolated(openEventLog(), era) });
      const [shared] = serversOf(assay);
      const sessions = await Promise.all([1, 2, 3].map(() => openSession(assay.url)));
      // It is started when it is wanted.
      expect(serversOf(assay)).toHaveLength(1);
      const pids = await Promise.all(sessions.map((session) => session.call('s_pid')));
      const again = await Promise.all(sessions.map((session) => session.call('s_pid')));
      expect(again).toEqual(pids);
      expect(new Set([...pids, String(shared)]).size).toBe(4);
      for (const [index, session] of sessions.entries()) {
        await session.end();
        await gone([Number(pids[index])]);
        expect(serversOf(assay)).toHaveLength(3 - index);
      }
      expect(serversOf(assay)).toEqual([shared]);
    },
  );

  it('has one process per connection of a modern client', async () => {
    const assay = await started({ s: isolated() });
    const [one, other] = await Promise.all([modernCall(assay.url, 's_pid'), modernCall(assay.url, 's_pid')]);
    expect(one).not.toBe(other);
    await gone([Number(one), Number(other)]);
    expect(serversOf(assay)).toHaveLength(1);
  });

  it("is told each client's capabilities", async () => {
    const assay = await started({ s: isolated() });
    const [all, some] = await Promise.all([
      openAskable(assay.url),
      openSession(assay.url, { capabilities: { roots: { listChanged: true } } }),
    ]);
    expect(Object.keys(JSON.parse(await all.call('s_told')) as JsonObject).sort()).toEqual([
      'elicitation',
      'roots',
      'sampling',
    ]);
    expect(JSON.parse(await some.call('s_told'))).toEqual({ roots: { listChanged: true } });
  });

  it.for(['s', 'm'])('ends together with the session that it asks: %s', async (name) => {
    const eventLog = openEventLog();
    const assay = await started({ s: isolated(eventLog), m: isolated(eventLog, 'modern') });
    const before = await openThings(assay);
    const session = await openAskable(assay.url);
    const { stream } = await untilAsked(session, `${name}_ask`, ROUNDS);
    expect((await session.end()).status).toBe(204);
    await stream.ended;
    await until('its process is gone', async () =>
      (await openThings(assay)).processes <= before.processes ? true : undefined,
    );
    expect(await openThings(assay)).toMatchObject({ sessions: 0, privateLinks: 0, inFlight: 0 });
  });

  it('has no process for a session that ended while its server only requested a retry', async () => {
    const assay = await started({ m: isolated(openEventLog(), 'modern') });
    const session = await openAskable(assay.url);
    const rounds = Array.from({ length: 9 }, () => []);
    const stream = session.stream('tools/call', { name: 'm_ask', arguments: { rounds } }, 1);
    stream.catch(() => undefined);
    await until('its process stands', async () =>
      (await openThings(assay)).privateLinks === 1 ? true : undefined,
    );
    await sleep(300);
    await session.end();
    await sleep(3_000);
    expect(await openThings(assay)).toMatchObject({ privateLinks: 0, inFlight: 0 });
    expect(serversOf(assay)).toHaveLength(1);
  });

  it('leaves no process behind when Assay ends', async () => {
    const servers = { s: isolated(), m: isolated(openEventLog(), 'modern') };
    const assay = await started(servers, { 'limits.drainMs': 500 });
    const sessions = await Promise.all([1, 2].map(() => openAskable(assay.url)));
    for (const session of sessions) await Promise.all([session.call('s_pid'), session.call('m_pid')]);
    const asked = await untilAsked(sessions[0] ?? (await openAskable(assay.url)), 's_ask', ROUNDS);
    await modernStep(assay.url, { name: 's_ask', args: ROUNDS });
    const pids = serversOf(assay);
    expect(pids).toHaveLength(7);
    expect(await assay.stop()).toBe(0);
    await gone(pids);
    await asked.stream.ended;
  });

  it('has a limited number of processes; an idle one makes room', async () => {
    const assay = await started({ s: isolated() }, { 'limits.processesPerServer': 2 });
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => openAskable(assay.url)));
    if (one === undefined || two === undefined || three === undefined) throw new Error('no sessions');
    const first = Number(await one.call('s_pid'));
    await two.call('s_pid');
    await three.call('s_pid');
    await gone([first]);
    expect(await openThings(assay)).toMatchObject({ privateLinks: 2 });
    // Both are in use now, so neither makes room.
    await Promise.all([untilAsked(two, 's_ask', ROUNDS), untilAsked(three, 's_ask', ROUNDS)]);
    const refused = await one.ask('tools/call', { name: 's_pid', arguments: {} });
    expect(codeOf(refused)).toBe('SERVER_BUSY');
    expect(at(refused, 'error', 'message')).toContain('limits.processesPerServer');
    await three.end();
    await until('there is room', async () =>
      (await openThings(assay)).privateLinks === 1 ? true : undefined,
    );
    expect(Number(await one.call('s_pid'))).toBeGreaterThan(0);
  });

  it('that crashes is restarted for its own session only', async () => {
    const assay = await started({ s: isolated() });
    const [one, other] = await Promise.all([openAskable(assay.url), openAskable(assay.url)]);
    const [mine, theirs] = await Promise.all([one.call('s_pid'), other.call('s_pid')]);
    const crashed = await one.ask('tools/call', { name: 's_crash', arguments: ROUNDS });
    expect(codeOf(crashed)).toBe('SERVER_ENDED');
    expect(await one.call('s_pid')).not.toBe(mine);
    expect(await other.call('s_pid')).toBe(theirs);
  });
});

it('behind assay stdio every server has one process, whatever its isolation', async () => {
  const eventLog = openEventLog();
  const pipe = spawnStdio({
    servers: { s: isolated(eventLog), shared: fixture('asking', [], { env: eventLog.env }) },
  });
  await pipe.initialize();
  await Promise.all([pipe.call('s_pid'), pipe.call('shared_pid'), pipe.call('s_pid')]);
  expect(eventLog.read('start')).toHaveLength(2);
  pipe.closeStdin();
  await pipe.ended;
  await gone(eventLog.read('start').map(({ pid }) => pid));
});

describe('a stdio server shared by clients', () => {
  it('cannot ask anybody: its requests are refused, also late ones, and reach no client', async () => {
    const eventLog = openEventLog();
    const assay = await started({ shared: fixture('asking', [], { env: eventLog.env }) });
    const sessions = await Promise.all([openAskable(assay.url), openAskable(assay.url)]);
    const streams = await Promise.all(sessions.map((session) => session.listen()));
    const [one, other] = sessions;
    expect(await one.call('shared_push', ROUNDS)).toBe('pushed');
    expect(textOf(await modernStep(assay.url, { name: 'shared_push', args: ROUNDS }))).toBe('pushed');
    const late = other.post(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 5,
        method: 'tools/call',
        params: { name: 'shared_late', arguments: {} },
      }),
    );
    await until('the call is there', () => (eventLog.read('waiting').length > 0 ? true : undefined));
    await other.notify('notifications/cancelled', { requestId: 5 });
    expect((await late).text).not.toContain('elicitation');
    await until('all was refused', () => (eventLog.read('pushed').length === 3 ? true : undefined));
    for (const { detail } of eventLog.read('pushed')) expect(detail).toContain('-32601');
    await sleep(200);
    for (const stream of streams) expect(stream.messages()).toEqual([]);
  });
});
