import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient, connectFirst } from '../support/clients.ts';
import { at, parseJson, type Json, type JsonObject } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';
import { fixture } from '../support/paths.ts';

const ARGUMENT = { argument: { name: 'who', value: 'wor' }, context: { arguments: { lang: 'de', n: '1' } } };

/** A request with each kind of reference, and the reference that its server is to see. */
function cases(server: string): readonly { ref: JsonObject; seen: JsonObject }[] {
  const template = { type: 'ref/resource', uri: 'note://item/{id}' };
  return [
    {
      ref: { type: 'ref/prompt', name: `${server}_greet`, title: 'Greets' },
      seen: { type: 'ref/prompt', name: 'greet', title: 'Greets' },
    },
    { ref: template, seen: template },
  ];
}

describe.each(['legacy', 'modern'])('a completion of a %s server', (era) => {
  let assay: Gateway;
  beforeAll(async () => {
    assay = await startGateway({ servers: { s: fixture('notifier', [`--era=${era}`]) } });
    await assay.settled();
  });

  const seenIn = (answer: Json): Json => {
    const value = at(answer, 'result', 'completion', 'values', 0);
    return typeof value === 'string' ? parseJson(value) : answer;
  };

  it('gets reference, argument and context of clients of both eras unchanged, except for the name', async () => {
    const session = await openSession(assay.url);
    for (const { ref, seen } of cases('s')) {
      const expected = { ref: seen, ...ARGUMENT, _meta: null };
      const params = { ref, ...ARGUMENT };
      expect(seenIn(await session.ask('completion/complete', params))).toEqual(expected);
      expect(seenIn(await modernAsk(assay.url, 'completion/complete', { params }))).toEqual(expected);
    }
  });

  it('reaches the official clients', async () => {
    const context = { arguments: { lang: 'de' } };
    const argument = { name: 'who', value: 'wor' };
    const asked = { ref: { type: 'ref/prompt', name: 's_greet' } as const, argument, context };
    const expected = { ref: { type: 'ref/prompt', name: 'greet' }, argument, context, _meta: null };
    const first = await connectFirst({ url: assay.url });
    const answers = [(await first.complete(asked)).completion];
    for (const mode of ['legacy', 'modern'] as const)
      answers.push((await (await connectClient({ url: assay.url }, mode)).complete(asked)).completion);
    for (const { values } of answers) expect(parseJson(values[0] ?? '')).toEqual(expected);
    expect(answers).toHaveLength(3);
  });
});
