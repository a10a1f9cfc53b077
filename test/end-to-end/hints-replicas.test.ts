import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient } from '../support/clients.ts';
import type { Answer, Headers } from '../support/http.ts';
import { at, textAt, type Json, type JsonObject } from '../support/json.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { newDatabase } from '../support/postgres.ts';
import { keepToken } from '../support/tokens.ts';

/** The maximum time on a busy machine until a replica sees what another one wrote; it polls four times a second. */
const WITHIN_MS = scaledMs(10_000);

interface Replica {
  readonly assay: Gateway;
  readonly admin: AdminClient;
}

/** Two replicas on one store: in PostgreSQL with separate homes, else with one home. */
async function twoReplicas(kind: 'SQLite' | 'PostgreSQL'): Promise<readonly [Replica, Replica]> {
  const isShared = kind === 'PostgreSQL';
  const env: Record<string, string> = isShared ? { ASSAY_DATABASE_URL: await newDatabase() } : {};
  const home = tempDir();
  const token = await keepToken(home, 'boss', { scopes: ['admin'], databaseUrl: env['ASSAY_DATABASE_URL'] });
  const start = async (own: string): Promise<Replica> => {
    const assay = await startGateway({ servers: { plain: fixture('plain') }, home: own, env });
    await assay.settled();
    return { assay, admin: adminClient(assay, token) };
  };
  return Promise.all([start(home), start(isShared ? tempDir() : home)]);
}

async function idOf({ admin }: Replica, name: string): Promise<string> {
  return textAt((await admin.get(`/tools?text=${name}`)).json(), 'tools', 0, 'id');
}

function patch({ admin }: Replica, id: string, body: JsonObject, headers: Headers = {}): Promise<Answer> {
  return admin.ask('PATCH', `/tools/${id}`, { headers, body });
}

async function hint({ admin }: Replica, id: string): Promise<Json | undefined> {
  return at((await admin.get(`/tools/${id}`)).json(), 'hints', 'readOnlyHint', 'decidedBy');
}

describe.each(['SQLite', 'PostgreSQL'] as const)('two replicas on one store in %s', (kind) => {
  let replicas: readonly [Replica, Replica];
  beforeAll(async () => {
    replicas = await twoReplicas(kind);
  });

  it("see each other's overrides, and notify their clients", async () => {
    const [one, two] = replicas;
    const id = await idOf(one, 'plain_echo');
    expect(await idOf(two, 'plain_echo')).toBe(id);
    let changes = 0;
    const client = await connectClient({ url: two.assay.url }, 'legacy', {}, (unconnected) =>
      unconnected.setNotificationHandler('notifications/tools/list_changed', () => {
        changes += 1;
      }),
    );
    const listed = async (): Promise<Json | undefined> => {
      const { tools } = await client.listTools();
      return tools.find(({ name }) => name === 'plain_echo')?.annotations?.readOnlyHint;
    };
    const before = await listed();
    expect(before).not.toBe(true);
    const set = await patch(one, id, { annotations: { readOnlyHint: true, destructiveHint: false } });
    expect(verdictOf(set)).toBe('200');
    await expect.poll(() => hint(two, id), { timeout: WITHIN_MS, interval: 20 }).toBe('override');
    await expect.poll(() => changes, { timeout: WITHIN_MS, interval: 20 }).toBe(1);
    expect(await listed()).toBe(true);
    expect(changes).toBe(1);
  });

  it('let one of two concurrent changes of a tool win', async () => {
    const id = await idOf(replicas[0], 'plain_label');
    const { headers } = await replicas[0].admin.get(`/tools/${id}`);
    const ifMatch = { 'if-match': String(headers.etag) };
    const inputs = replicas.map((replica, index) =>
      patch(replica, id, { annotations: { idempotentHint: index === 0 } }, ifMatch),
    );
    const verdicts = (await Promise.all(inputs)).map(verdictOf);
    expect(verdicts.toSorted()).toEqual(['200', '412 PRECONDITION_FAILED']);
    await expect
      .poll(
        async () =>
          (await Promise.all(replicas.map(({ admin }) => admin.get(`/tools/${id}`)))).map(({ text }) => text),
        {
          timeout: WITHIN_MS,
        },
      )
      .toSatisfy((texts: readonly string[]) => texts[0] === texts[1]);
  });
});
