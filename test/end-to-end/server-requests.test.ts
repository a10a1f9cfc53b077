import { beforeAll, describe, expect, it } from 'vitest';
import { startAsking } from '../fixtures/asking-http.ts';
import { toldIn } from '../fixtures/asking-peer.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { startGateway } from '../support/gateway.ts';
import { ACCEPT, ASKABLE, type Askable } from '../support/askable.ts';
import type { Endpoint } from '../support/clients.ts';
import { endLater } from '../support/endings.ts';
import { at, type Json, type JsonObject } from '../support/json.ts';
import { fixture, writeConfig } from '../support/paths.ts';

endAfterEach();

const FORM = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Who?',
    requestedSchema: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
  },
};
const LINK = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Sign in', url: 'https://example.com/in?a=1&b=2' },
};
/** Older protocol revisions require an id for a URL elicitation. */
const LEGACY_LINK = { ...LINK, params: { ...LINK.params, elicitationId: 'e 1' } };
const SAMPLING = {
  method: 'sampling/createMessage',
  params: {
    messages: [{ role: 'user', content: { type: 'text', text: 'Say it' } }],
    maxTokens: 10,
    tools: [{ name: 'look', inputSchema: { type: 'object' } }],
    toolChoice: { mode: 'auto' },
  },
};
const ROOTS = { method: 'roots/list' };
const SAMPLE = {
  role: 'assistant',
  model: 'made up',
  content: { type: 'text', text: 'said' },
  stopReason: 'endTurn',
};
const ROOT = { roots: [{ uri: 'file:///a', name: 'a' }] };
const SERVERS = ['ls', 'lh', 'ms', 'mh'] as const;
const ERA_OF = { ls: 'legacy', lh: 'legacy', ms: 'modern', mh: 'modern' } as const;

let config: string;
let url: string;
beforeAll(async () => {
  const [legacy, modern] = await Promise.all([startAsking('legacy'), startAsking('modern')]);
  endLater(() => legacy.close());
  endLater(() => modern.close());
  const servers: JsonObject = {
    ls: fixture('asking', [], { isolation: 'session' }),
    lh: { url: legacy.url },
    ms: fixture('asking', ['--era=modern']),
    mh: { url: modern.url },
    shared: fixture('asking'),
  };
  config = writeConfig(servers);
  const assay = await startGateway({ config });
  await assay.settled();
  url = assay.url;
});

const ENDPOINTS: readonly (readonly [name: string, endpoint: () => Endpoint])[] = [
  ['HTTP', () => ({ url })],
  ['assay stdio', () => ({ stdio: { all: true, config } })],
];

describe.for(ENDPOINTS)('over %s', ([name, endpoint]) => {
  describe.for(ASKABLE)('a client $label', ({ era, connect }) => {
    let client: Askable;
    beforeAll(async () => {
      client = await connect(endpoint());
    });
    const ask = async (server: string, ...rounds: readonly (readonly Json[])[]): Promise<readonly Json[]> =>
      toldIn(await client.call(`${server}_ask`, { rounds }));

    it.for(SERVERS)(
      'gets all concurrent questions from %s, and each answer reaches its question',
      async (server) => {
        client.answerWith(ACCEPT);
        const before = client.asked.length;
        const link = ERA_OF[server] === 'legacy' ? LEGACY_LINK : LINK;
        const answers = await ask(server, [FORM, link, SAMPLING, ROOTS]);
        expect(answers).toEqual([
          { result: { action: 'accept', content: { who: 'Who?' } } },
          { result: { action: 'accept' } },
          { result: SAMPLE },
          { result: ROOT },
        ]);
        const asked = client.asked.slice(before);
        expect(asked.map(({ method }) => method).sort()).toEqual([
          'elicitation/create',
          'elicitation/create',
          'roots/list',
          'sampling/createMessage',
        ]);
        for (const { method, params } of [FORM, LINK, SAMPLING])
          expect(asked).toContainEqual({ method, params: expect.objectContaining(params) as Json });
      },
    );

    it.for(SERVERS)('is asked by %s in several rounds, one after the other', async (server) => {
      const seen: Json[] = [];
      client.answerWith((_, params) => {
        seen.push(at(params, 'message') ?? null);
        return { action: 'accept', content: { who: `${seen.length}` } };
      });
      const round = (message: string): Json[] => [{ ...FORM, params: { ...FORM.params, message } }];
      const answers = await ask(server, round('one'), round('two'), round('three'));
      expect(seen).toEqual(['one', 'two', 'three']);
      expect(answers.map((one) => at(one, 'result', 'content', 'who'))).toEqual(['1', '2', '3']);
    });

    it.for(SERVERS)('can decline or cancel, which is reported to %s', async (server) => {
      for (const action of ['decline', 'cancel']) {
        client.answerWith(() => ({ action }));
        expect(await ask(server, [FORM])).toEqual([{ result: { action } }]);
      }
    });

    it.for(SERVERS)('can fail to answer %s without affecting the next call', async (server) => {
      client.answerWith(() => {
        throw new Error('nobody is here');
      });
      if (era === 'legacy' && ERA_OF[server] === 'legacy') {
        const [answer] = await ask(server, [FORM]);
        expect(at(answer, 'error', 'message')).toContain('nobody is here');
      } else await expect(ask(server, [FORM])).rejects.toThrow(/nobody is here/);
      client.answerWith(ACCEPT);
      expect(await ask(server, [ROOTS])).toEqual([{ result: ROOT }]);
    });

    it('is also asked during a prompt request', async () => {
      client.answerWith(ACCEPT);
      for (const server of SERVERS) {
        const answers = toldIn(await client.prompt(`${server}_ask`, { rounds: JSON.stringify([[FORM]]) }));
        expect(answers).toEqual([{ result: { action: 'accept', content: { who: 'Who?' } } }]);
      }
    });

    it('is never asked by a server that several clients share', async () => {
      const before = client.asked.length;
      const text = await client.call('shared_ask', { rounds: [[FORM]] });
      // `assay stdio` has only one client, so nothing is shared.
      if (name !== 'HTTP') expect(toldIn(text)).toHaveLength(1);
      else {
        expect(text).toBe('this client cannot be asked');
        expect(client.asked.length).toBe(before);
      }
    });
  });

  it.for(ASKABLE)(
    'a client $label without capabilities gets the server’s own refusal',
    async ({ connect }) => {
      const client = await connect(endpoint(), { capabilities: {} });
      for (const server of SERVERS)
        expect(await client.call(`${server}_ask`, { rounds: [[FORM]] })).toBe('this client cannot be asked');
    },
  );

  it.for(ASKABLE)('a server that asks a client $label anyway is refused', async ({ era, connect }) => {
    const client = await connect(endpoint(), { capabilities: { roots: {} } });
    for (const server of SERVERS) {
      const args = { rounds: [[FORM]], force: true };
      if (ERA_OF[server] === 'modern')
        await expect(client.call(`${server}_ask`, args)).rejects.toThrow(
          era === 'legacy' ? /did not answer|cannot|not/i : /elicitation/,
        );
      else {
        const [answer] = toldIn(await client.call(`${server}_ask`, args));
        expect(at(answer, 'error', 'code')).toBe(-32601);
      }
    }
    expect(client.asked).toEqual([]);
  });
});
