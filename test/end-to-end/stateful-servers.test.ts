import { Agent, request } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { endLater, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { parseJson, type Json, type JsonObject } from '../support/json.ts';
import { textOf } from '../support/legacy.ts';
import { META, modernBody, modernHeaders } from '../support/modern.ts';
import { samplesOf } from '../support/open-things.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { bearer, createToken } from '../support/tokens.ts';

/** A modern client with one connection; `close` closes it. */
interface Client {
  readonly count: () => Promise<string>;
  readonly close: () => void;
}

function connect({ url }: Gateway, name = 'test', token?: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  endLater(async () => agent.destroy());
  const params = { name: 's_counter', arguments: {} };
  const meta: JsonObject = { [`${META}clientInfo`]: { name, version: '1' } };
  const headers = { ...modernHeaders('tools/call', params), ...(token !== undefined && bearer(token)) };
  const ask = (): Promise<Json> =>
    new Promise((resolve, reject) => {
      const asked = request(url, { method: 'POST', agent, headers: headers }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve(parseJson(text)));
      });
      asked.on('error', reject);
      asked.end(modernBody('tools/call', { params, meta }));
    });
  return { count: async () => textOf(await ask()), close: () => agent.destroy() };
}

const SERVERS = { s: fixture('plain', [], { isolation: 'session' }) };

describe('a server with "isolation": "session" that keeps state, without tokens', () => {
  let assay: Gateway;
  beforeAll(async () => {
    assay = await startGateway({ servers: SERVERS });
    await assay.settled();
  });

  it('keeps it for the connection of a modern client, whatever name another one gives', async () => {
    const [one, other] = [connect(assay), connect(assay)];
    expect([await one.count(), await one.count()]).toEqual(['1', '2']);
    expect([await other.count(), await one.count(), await other.count()]).toEqual(['1', '3', '2']);
    one.close();
    other.close();
  });

  it('ends with the connection', async () => {
    const links = async (): Promise<number> =>
      (await samplesOf(assay)).find(({ name }) => name === 'assay_private_links')?.value ?? 0;
    await until('those of earlier connections are gone', async () =>
      (await links()) === 0 ? true : undefined,
    );
    const client = connect(assay);
    await client.count();
    expect(await links()).toBe(1);
    client.close();
    await until('it is gone', async () => ((await links()) === 0 ? true : undefined));
    expect(await connect(assay).count()).toBe('1');
  });
});

describe('a server with "isolation": "session" that keeps state, with tokens', () => {
  it('keeps it for a token and the name of its client, over all connections', async () => {
    const home = tempDir();
    const [mine, foreign] = [await createToken(home, 'mine'), await createToken(home, 'foreign')];
    const assay = await startGateway({ servers: SERVERS, home });
    expect(await connect(assay, 'a', mine).count()).toBe('1');
    const again = connect(assay, 'a', mine);
    expect(await again.count()).toBe('2');
    again.close();
    // Another client of the same token, and the same name with another token.
    expect(await connect(assay, 'b', mine).count()).toBe('1');
    expect(await connect(assay, 'a', foreign).count()).toBe('1');
    expect(await connect(assay, 'a', mine).count()).toBe('3');
  });
});
