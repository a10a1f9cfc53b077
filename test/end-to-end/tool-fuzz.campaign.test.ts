// Unexpected and concurrent bodies: none breaks the REST API, and a refused one changes nothing.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../packages/gateway/src/gateway/ports/store.ts';
import { rounds } from '../support/campaign.ts';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { HINTS, toolIn } from '../support/hints.ts';
import type { Answer } from '../support/http.ts';
import { at, listAt, textAt, type Json } from '../support/json.ts';
import { tempDir } from '../support/paths.ts';
import { openAt } from '../support/stores.ts';
import { keepToken } from '../support/tokens.ts';
import { startMade, type MadeHttp } from '../fixtures/http-made.ts';

const RUNS = rounds({ short: 30, long: 300 });
/** Fewer, as each accepted body starts a server. */
const GATEWAY_RUNS = rounds({ short: 12, long: 100 });
/** Nothing listens there, so connecting fails at once. */
const DEAD = 'http://127.0.0.1:9/mcp';

let assay: Gateway;
let admin: AdminClient;
let id: string;
let upstream: MadeHttp;
let store: Store;
beforeAll(async () => {
  const home = tempDir();
  // Without `execute`, so that no body starts a process.
  const token = await keepToken(home, 'fuzzer', { scopes: ['admin'] });
  upstream = await startMade({ era: 'legacy' });
  const tool = toolNamed('act', { annotations: { readOnlyHint: false } });
  assay = await startGateway({ servers: { filed: filedServer([tool], { quiet: true }).entry }, home });
  admin = adminClient(assay, token);
  await assay.settled();
  store = await openAt({ home, databaseUrl: undefined });
  id = textAt(await toolIn(admin, 'filed', 'act'), 'id');
  return () => upstream.close();
});

/** The number of audit events of any kind. */
async function auditEvents(): Promise<number> {
  const found = await store.auditEvents({ limit: 100_000, after: 0 });
  if (!found.ok) throw new Error(found.error.code);
  return found.value.length;
}

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom('', 'null', 'true', '\u0000', '\ud800', '__proto__', 'x'.repeat(300), 1e308, -0, [], {}),
) as fc.Arbitrary<Json>;
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** An object with some of these members, in either spelling, most of them valid and some odd. */
function members(fields: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<Json> {
  const entries = Object.entries(fields).flatMap(([name, value]) => [
    fc.tuple(fc.constantFrom(name, name, snake(name)), fc.oneof({ weight: 6, arbitrary: value }, odd)),
  ]);
  const some = fc.oneof(...entries);
  const stray = fc.tuple(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor')), odd);
  return fc
    .array(fc.oneof({ weight: 12, arbitrary: some }, stray), { maxLength: 5 })
    .map((pairs) => Object.fromEntries(pairs) as Json);
}

const body = (fields: fc.Arbitrary<Json>, wrapper: string): fc.Arbitrary<Json> =>
  fc.oneof(
    { weight: 6, arbitrary: fields },
    { weight: 2, arbitrary: fields.map((inner): Json => ({ [wrapper]: inner })) },
    odd,
  );

const hintValue = fc.constantFrom<Json>(true, false, null);
const title = fc.oneof(fc.string({ maxLength: 20 }), fc.constant(null)) as fc.Arbitrary<Json>;
const toolBody = body(
  members({
    annotations: members({ title, ...Object.fromEntries(HINTS.map((hint) => [hint, hintValue])) }),
    title,
    enabled: fc.boolean(),
    reason: fc.string(),
  }),
  'tool',
);

const entry = {
  url: fc.constantFrom<Json>(DEAD, 'ftp://x/', 'http://', 'http://u:p@127.0.0.1:9/', '//x', '${HOME}', null),
  transport: fc.constantFrom<Json>('sse', 'auto', 'STREAMABLE-HTTP', 'http', 'stdio', 'x', null),
  headers: fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }) as fc.Arbitrary<Json>,
  command: fc.constantFrom<Json>('true', null),
  args: fc.constantFrom<Json>([], ['x'], null),
  timeoutMs: fc.constantFrom<Json>(1, 1_000, 0, -1, 1.5, 1e15, null),
  prefix: hintValue,
  isolation: fc.constantFrom<Json>('session', 'shared', 'x', null),
  trust: hintValue,
};
const name = fc.oneof(
  fc.constantFrom('a', 'filed', '__proto__', 'constructor', '', '.', '..', 'a/b', 'ä', 'local', 'all', ' x'),
  fc.string({ maxLength: 80 }),
) as fc.Arbitrary<Json>;

const isProblem = ({ status, type, text }: Answer): boolean =>
  status >= 400 && status < 500 && type === 'application/problem+json' && text.includes('"code"');

/** They may change without a request, and some are absent while a server is ready. */
const RUNTIME_MEMBERS: ReadonlySet<string> = new Set([
  ...['state', 'cause', 'causeCode', 'reachable', 'era', 'revision', 'toolCount'],
]);

describe('any body', () => {
  it('of PUT or PATCH of a tool is applied or refused as a whole, and changes nothing the second time', async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('PUT', 'PATCH'), toolBody, async (method, given) => {
        const before = await admin.get(`/tools/${id}`);
        const auditEventsBefore = await auditEvents();
        const answer = await admin.ask(method, `/tools/${id}`, { body: JSON.stringify(given) });
        const after = await admin.get(`/tools/${id}`);
        if (answer.status !== 200) {
          expect([isProblem(answer), verdictOf(answer)]).toEqual([true, verdictOf(answer)]);
          expect(after.text).toBe(before.text);
          expect(await auditEvents()).toBe(auditEventsBefore);
          return;
        }
        accepted += 1;
        expect(after.text).toBe(answer.text);
        expect(await auditEvents()).toBe(auditEventsBefore + (after.text === before.text ? 0 : 1));
        const again = await admin.ask(method, `/tools/${id}`, { body: JSON.stringify(given) });
        expect([again.status, again.text]).toEqual([200, after.text]);
      }),
      { numRuns: RUNS, examples: [['PATCH', { enabled: false }]] },
    );
    // It would prove little if all were refused.
    expect(accepted).toBeGreaterThan(0);
  });

  it('of POST, PATCH or PUT of a gateway is applied or refused as a whole', async () => {
    const made = await admin.post('/gateways', { name: 'kept', url: upstream.url });
    expect(made.status).toBe(201);
    const gatewaysNow = async (): Promise<string> => {
      const all = listAt((await admin.get('/gateways')).json(), 'gateways');
      const lasting = all.map((one) =>
        Object.entries(one ?? {}).filter(([key]) => !RUNTIME_MEMBERS.has(key)),
      );
      return JSON.stringify(lasting);
    };
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('POST', 'PATCH', 'PUT'),
        body(members({ name, ...entry }), 'gateway'),
        body(members(entry), 'gateway'),
        async (method, input, change) => {
          const before = await gatewaysNow();
          const auditEventsBefore = await auditEvents();
          const answer = await (method === 'POST'
            ? admin.post('/gateways', JSON.stringify(input))
            : admin.ask(method, '/gateways/kept', { body: JSON.stringify(change) }));
          if (![200, 201].includes(answer.status)) {
            expect([isProblem(answer), verdictOf(answer)]).toEqual([true, verdictOf(answer)]);
            expect(await gatewaysNow()).toBe(before);
            expect(await auditEvents()).toBe(auditEventsBefore);
            return;
          }
          accepted += 1;
          const read = await admin.get(`/gateways/${textAt(answer.json(), 'id')}`);
          expect(at(read.json(), 'name')).toBe(at(answer.json(), 'name'));
          if (method === 'POST')
            expect(verdictOf(await admin.delete(`/gateways/${textAt(answer.json(), 'id')}`))).toBe('204');
        },
      ),
      // The example guarantees one accepted body, whatever the seed.
      { numRuns: GATEWAY_RUNS, examples: [['POST', { name: 'a', url: DEAD }, {}]] },
    );
    expect(accepted).toBeGreaterThan(0);
    expect(verdictOf(await admin.delete('/gateways/kept'))).toBe('204');
  });
});

describe('twenty concurrent requests to a gateway with the same ETag', () => {
  const race = async (
    change: (index: number) => { readonly method: string; readonly body?: Json },
  ): Promise<readonly string[]> => {
    const made = await admin.post('/gateways', { name: 'raced', url: upstream.url });
    expect(made.status).toBe(201);
    const headers = { 'if-match': String((await admin.get('/gateways/raced')).headers.etag) };
    const before = await auditEvents();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const { method, body: given } = change(index);
        return admin.ask(method, '/gateways/raced', {
          headers,
          ...(given !== undefined && { body: given }),
        });
      }),
    );
    // Each successful change has an audit event, and no other does.
    expect((await auditEvents()) - before).toBe(answers.filter(({ status }) => status < 300).length);
    await admin.delete('/gateways/raced');
    return answers.map(verdictOf).toSorted();
  };
  const ONE = ['200', ...Array<string>(19).fill('412 PRECONDITION_FAILED')];

  it('change its timeout only once', async () => {
    expect(await race((index) => ({ method: 'PATCH', body: { timeoutMs: 1_000 + index } }))).toEqual(ONE);
  });

  it('change its URL only once', async () => {
    const url = (index: number): string => `${upstream.url}?x=${index}`;
    expect(await race((index) => ({ method: 'PUT', body: { url: url(index) } }))).toEqual(ONE);
  });

  it('change its trust only once', async () => {
    const verdicts = await race((index) => ({ method: 'PATCH', body: { trust: index % 2 === 0 } }));
    expect(verdicts).toEqual(ONE);
  });

  it('change or delete it only once', async () => {
    const verdicts = await race((index) =>
      index % 2 === 0 ? { method: 'DELETE' } : { method: 'PATCH', body: { timeoutMs: 1_000 + index } },
    );
    expect(verdicts.filter((verdict) => verdict.startsWith('20'))).toHaveLength(1);
    expect(verdicts.filter((verdict) => !/^(?:20|412|404)/.test(verdict))).toEqual([]);
  });
});
