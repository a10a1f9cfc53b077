import { beforeAll, describe, expect, it } from 'vitest';
import { startAsking } from '../fixtures/asking-http.ts';
import { toldIn } from '../fixtures/asking-peer.ts';
import { rounds } from '../support/campaign.ts';
import { startAssay, type Assay } from '../support/assay.ts';
import { ASKABLE, type Askable } from '../support/askable.ts';
import { endLater, sleep, until } from '../support/endings.ts';
import { at, type Json, type JsonObject } from '../support/json.ts';
import { settledTo, openThings } from '../support/open-things.ts';
import { fixture, openEventLog } from '../support/paths.ts';
import { seeded } from '../support/seeded.ts';

/** The maximum number of concurrent calls of one client. */
const AT_A_TIME = 3;
/** Calls by server: `s` starts a process for each call of a modern client. */
const CALLS = {
  legacy: { s: rounds({ short: 4, long: 80 }), h: rounds({ short: 4, long: 50 }) },
  modern: { s: rounds({ short: 2, long: 10 }), h: rounds({ short: 4, long: 45 }) },
} as const;
/** After this many calls each client makes one with a question for nobody. */
const PUSH_EVERY = 20;
const WHO = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2] as const;

function callsOf(era: 'legacy' | 'modern'): number {
  return CALLS[era].s + CALLS[era].h;
}

interface Member {
  readonly mark: string;
  readonly era: 'legacy' | 'modern';
  readonly client: Askable;
  /** Messages of the questions that it was asked and that are not its own. */
  readonly foreign: Json[];
}

describe('ten clients that are asked concurrently', () => {
  const chance = seeded('crowd of questions');
  const eventLog = openEventLog();
  let assay: Assay;
  let members: readonly Member[];
  beforeAll(async () => {
    const legacy = await startAsking('legacy');
    endLater(() => legacy.close());
    assay = await startAssay({
      servers: {
        s: fixture('asking', [], { isolation: 'session' }),
        h: { url: legacy.url },
        shared: fixture('asking', [], { env: eventLog.env }),
      },
    });
    await assay.settled();
    members = await Promise.all(WHO.map((kind, index) => join(kind, `client ${index}`)));
  });

  async function join(kind: 0 | 1 | 2, mark: string): Promise<Member> {
    const { era, connect } = ASKABLE[kind] ?? expect.unreachable();
    const client = await connect({ url: assay.url });
    const foreign: Json[] = [];
    client.answerWith((_, params) => {
      const message = at(params, 'message') ?? null;
      if (!String(message).startsWith(`${mark}:`)) foreign.push(message);
      return { action: 'accept', content: { heard: String(message), by: mark } };
    });
    return { mark, era, client, foreign };
  }

  /** One call with one to three questions, each of which has to come back with its own answer. */
  async function round({ mark, client }: Member, server: string, number: number): Promise<number> {
    const messages = Array.from({ length: 1 + (number % 3) }, (_, index) => `${mark}: ${number}.${index}`);
    const form = (message: string): JsonObject => ({
      method: 'elicitation/create',
      params: { message, requestedSchema: { type: 'object', properties: {} } },
    });
    const told = toldIn(await client.call(`${server}_ask`, { rounds: [messages.map(form)] }));
    expect(told).toEqual(
      messages.map((heard) => ({ result: { action: 'accept', content: { heard, by: mark } } })),
    );
    return messages.length;
  }

  async function play(member: Member): Promise<number> {
    const { s, h } = CALLS[member.era];
    const plan = chance.shuffled([...Array<string>(s).fill('s'), ...Array<string>(h).fill('h')]);
    let next = 0;
    let questions = 0;
    const one = async (): Promise<void> => {
      while (next < plan.length) {
        const number = next++;
        const asked = await round(member, plan[number] ?? '', number);
        questions += asked;
        // A question that nobody may ever see, in between.
        if (number % PUSH_EVERY === 0) await member.client.call('shared_push', { rounds: [[NEVER]] });
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, one));
    return questions;
  }

  it('each get their own questions and have their own answers used, over many calls', async () => {
    const before = await openThings(assay);
    const questions = await Promise.all(members.map(play));
    // One to three a call.
    const expected = members.map(({ era }) =>
      Array.from({ length: callsOf(era) }, (_, number) => 1 + (number % 3)).reduce((sum, one) => sum + one),
    );
    expect(questions).toEqual(expected);
    for (const { mark, foreign } of members) expect([mark, foreign]).toEqual([mark, []]);
    await Promise.all(members.map(({ client }) => client.close()));
    const after = await settledTo({ ...before, privateLinks: 20 }, assay);
    expect(after).toMatchObject({ suspendedCalls: 0, inFlight: 0 });
  });

  it('never see a question from a server that all share', async () => {
    const pushes = members.reduce((sum, { era }) => sum + Math.ceil(callsOf(era) / PUSH_EVERY), 0);
    await until('all was refused', () => (eventLog.read('pushed').length >= pushes ? true : undefined));
    for (const { detail } of eventLog.read('pushed')) expect(detail).toContain('-32601');
    await sleep(100);
    for (const { client } of members)
      expect(client.asked.filter(({ params }) => at(params, 'message') === 'never')).toEqual([]);
  });
});

const NEVER: JsonObject = {
  method: 'elicitation/create',
  params: { message: 'never', requestedSchema: { type: 'object', properties: {} } },
};
