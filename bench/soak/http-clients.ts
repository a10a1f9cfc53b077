// HTTP clients: some stay, some disconnect mid-request, some only listen, some never finish.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Call, checkAnswer, someCall, tool } from './calls.ts';
import type { Chance } from './chance.ts';
import type { Act, Actor, SoakContext } from './soak-context.ts';
import { REMOVABLE } from './test-servers.ts';
import { HttpClient } from './http-client.ts';

/** Share of sessions abandoned without a DELETE. */
const ABANDONED_SHARE = 0.1;
/** The status of a successful DELETE. */
const ENDED = 204;

export const HTTP_CLIENTS: readonly Actor[] = [
  ...['1', '2', '3'].map((one): Actor => ({ name: `modern ${one}`, pauseMs: [0, 300], act: visitModern })),
  ...['1', '2'].map((one): Actor => ({ name: `legacy ${one}`, pauseMs: [0, 300], act: visitLegacy })),
  { name: 'fresh', pauseMs: [20, 200], act: callFresh },
  { name: 'leaver modern', pauseMs: [20, 300], act: leaveModern },
  { name: 'leaver legacy', pauseMs: [20, 300], act: leaveLegacy },
  { name: 'canceller', pauseMs: [50, 400], act: cancel },
  { name: 'half request', pauseMs: [200, 1_500], act: sendHalf },
  { name: 'single server', pauseMs: [200, 1_000], act: visitSingleServer },
  ...['1', '2'].map((one): Actor => ({ name: `GET stream ${one}`, pauseMs: [50, 500], act: holdStream })),
  ...['1', '2'].map((one): Actor => ({ name: `subscriber ${one}`, pauseMs: [50, 500], act: subscribe })),
];

/** The clients that a hostile one may not disturb. */
export const HONEST_CLIENTS: readonly Actor[] = HTTP_CLIENTS.filter(({ name }) =>
  ['modern 1', 'legacy 1', 'fresh', 'leaver modern', 'GET stream 1', 'subscriber 1'].includes(name),
);

/** Some calls over kept connections. */
async function visitModern({ gateway, tally, over }: SoakContext, chance: Chance): Promise<void> {
  await withClient(gateway, async (client) => {
    for (let left = chance.between(1, 200); left > 0 && !over.aborted; left -= 1) {
      await callOnce({ client, tally }, someCall(chance));
      await sleep(chance.between(5, 80));
    }
  });
}

async function visitLegacy(context: SoakContext, chance: Chance): Promise<void> {
  const { tally, over } = context;
  await withSession(context, chance, async (client, session) => {
    for (let left = chance.between(1, 100); left > 0 && !over.aborted; left -= 1) {
      await callOnce({ client, tally, session }, someCall(chance));
      await sleep(chance.between(5, 80));
    }
  });
}

async function callFresh({ gateway, tally }: SoakContext, chance: Chance): Promise<void> {
  const isFresh = true;
  await withClient(gateway, (client) => callOnce({ client, tally, isFresh }, someCall(chance)));
}

/** A call whose client disconnects while it runs, which in the modern era cancels it. */
async function leaveModern({ gateway, tally }: SoakContext, chance: Chance): Promise<void> {
  await withClient(gateway, async (client) => {
    const signal = AbortSignal.timeout(chance.between(1, 500));
    await callOnce({ client, tally, signal }, longCall(chance));
  });
}

/** In the legacy era the call continues, and its answer has no receiver. */
async function leaveLegacy(context: SoakContext, chance: Chance): Promise<void> {
  const { tally } = context;
  await withSession(context, chance, async (client, session) => {
    const signal = AbortSignal.timeout(chance.between(1, 500));
    await callOnce({ client, tally, session, signal }, longCall(chance));
  });
}

/** A cancelled request gets no response, unless it finished before the cancellation. */
async function cancel(context: SoakContext, chance: Chance): Promise<void> {
  const { tally } = context;
  await withSession(context, chance, async (client, session) => {
    const id = client.nextId();
    const { method, params } = longCall(chance);
    const answering = client.post({ era: 'legacy', method, params, id, session });
    await sleep(chance.between(1, 200));
    const told = { requestId: id, reason: 'soaked' };
    await client.post({ era: 'legacy', method: 'notifications/cancelled', params: told, session });
    const { messages } = await answering;
    const isAnswered = messages.some((message) => message.id === id);
    tally.count('canceller', isAnswered ? 'was answered before' : 'got no response');
  });
}

async function sendHalf({ gateway, tally }: SoakContext, chance: Chance): Promise<void> {
  const { port, pathname } = new URL(gateway.endpoint);
  const head = `POST ${pathname} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${gateway.token}\r\n`;
  const text = `${head}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"jsonrpc":"2.0","id":1,${' '.repeat(50_000)}`;
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(text.slice(0, chance.between(1, text.length)));
  await sleep(chance.between(1, 1_000));
  socket.destroy();
  tally.count('half request', 'sent');
}

/** The endpoint of a single server, which an edit may remove at any moment, with all its sessions. */
async function visitSingleServer({ gateway, tally, over }: SoakContext, chance: Chance): Promise<void> {
  const removable = chance.pick(REMOVABLE);
  const single = { endpoint: gateway.endpointOf(removable), token: gateway.token };
  await withClient(single, async (client) => {
    const opened = await client.initialize();
    if (opened.session === undefined) {
      tally.count('single server', `closed, status ${String(opened.status)}`);
      return;
    }
    const { session } = opened;
    const signal = AbortSignal.any([over, AbortSignal.timeout(chance.between(10, 2_000))]);
    await client.listen({ session }, signal).catch(unlessCut(signal));
    const id = client.nextId();
    const { status } = await client.post({ era: 'legacy', method: 'tools/list', params: {}, id, session });
    const ended = chance.happens(ABANDONED_SHARE) ? undefined : await client.endSession(session);
    const how = ended === undefined ? 'left behind' : `ended with status ${String(ended)}`;
    tally.count('single server', `listed with status ${String(status)}, ${how}`);
  });
}

async function holdStream(context: SoakContext, chance: Chance): Promise<void> {
  const { tally, over } = context;
  await withSession(context, chance, async (client, session) => {
    const signal = AbortSignal.any([over, AbortSignal.timeout(chance.between(50, 8_000))]);
    const first = await client.listen({ session }, signal).catch(unlessCut(signal));
    tally.count('GET stream', first === undefined ? 'held' : 'held, and heard of a change');
  });
}

async function subscribe({ gateway, tally, over }: SoakContext, chance: Chance): Promise<void> {
  await withClient(gateway, async (client) => {
    const signal = AbortSignal.any([over, AbortSignal.timeout(chance.between(500, 8_000))]);
    const params = { notifications: { toolsListChanged: true, promptsListChanged: true } };
    const ask = { era: 'modern', method: 'subscriptions/listen', params, id: client.nextId() } as const;
    const first = await client.listen(ask, signal).catch(unlessCut(signal));
    const isRight = first === undefined || first.method === 'notifications/subscriptions/acknowledged';
    if (isRight) tally.count('subscriber', first === undefined ? 'left at once' : 'acknowledged');
    else tally.object('subscriber', JSON.stringify(first));
  });
}

interface Caller {
  readonly client: HttpClient;
  readonly tally: SoakContext['tally'];
  /** Legacy session id, if any. */
  readonly session?: string;
  readonly isFresh?: boolean;
  readonly signal?: AbortSignal;
}

/** Calls and checks the answer, unless the client disconnected first. */
export async function callOnce(caller: Caller, call: Call): Promise<void> {
  const { client, tally, session, signal, isFresh = false } = caller;
  const { method, params } = call;
  const era = session === undefined ? 'modern' : 'legacy';
  const id = client.nextId();
  tally.calls += 1;
  const came = await client
    .post({ era, method, params, id, session }, { isFresh, ...(signal === undefined ? {} : { signal }) })
    .catch(unlessCut(signal));
  if (came === undefined) {
    tally.count(`${era} ${call.what}`, 'left');
    return;
  }
  const judged = checkAnswer(call, came.messages, id);
  if (judged.kind === 'wrong') tally.object(`${era} ${call.what}`, judged.reason);
  else tally.count(`${era} ${call.what}`, judged.kind === 'right' ? 'right' : judged.code);
}

function longCall(chance: Chance): Call {
  const ms = chance.between(100, 1_500);
  return chance.pick([
    tool('plain_sleep', { ms }, `slept ${String(ms)}`),
    tool('talker_wait', { ms }, 'waited'),
    tool('modern_wait', { steps: Math.ceil(ms / 30) }, 'done'),
    tool('new_wait', { steps: Math.ceil(ms / 30) }, 'done'),
    tool('plain_big', { bytes: 5_000_000 }, 'x'.repeat(5_000_000)),
  ]);
}

/** Ignores the errors that a disconnected client raises itself. */
function unlessCut(signal: AbortSignal | undefined): (error: unknown) => undefined {
  return (error) => {
    if (signal?.aborted !== true) throw error;
    return undefined;
  };
}

async function withClient(
  at: { readonly endpoint: string; readonly token: string },
  use: (client: HttpClient) => Promise<void>,
): Promise<void> {
  const client = new HttpClient(at);
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

async function withSession(
  { gateway, tally }: SoakContext,
  chance: Chance,
  use: (client: HttpClient, session: string) => Promise<void>,
): Promise<void> {
  await withClient(gateway, async (client) => {
    const session = await client.openSession();
    try {
      await use(client, session);
    } finally {
      const isLeft = chance.happens(ABANDONED_SHARE);
      const status = isLeft ? ENDED : await client.endSession(session);
      if (status !== ENDED) tally.object('session', `its DELETE got status ${String(status)}`);
      else tally.count('session', isLeft ? 'left behind' : 'ended');
    }
  });
}

/** One action of a client that does only this. */
export const callOf =
  (choose: (chance: Chance) => Call): Act =>
  async ({ gateway, tally }, chance) => {
    await withClient(gateway, (client) => callOnce({ client, tally, isFresh: true }, choose(chance)));
  };
