// Calls whose connection is lost before, while, or after their tool runs.
import type { ServerResponse } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import {
  BREAKING_TOOLS,
  breaking,
  MOMENTS,
  workDone,
  workOn,
  type Moment,
} from '../support/breaking-tools.ts';
import { endLater, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at, type Json, type JsonObject, listAt, textAt } from '../support/json.ts';
import { openSession, textOf, type LegacySession } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { readGauge } from '../support/prometheus.ts';
import { keepToken } from '../support/tokens.ts';
import { startMade, type Era, type Exchange } from '../fixtures/http-made.ts';

const dir = tempDir();
const ERAS = ['legacy', 'modern'] as const;
/** A separate stdio server for each client and moment, because one that ends too often is not restarted at once. */
const stdioNamed = (moment: Moment, client: Era): string => `s-${moment}-${client}`;

let assay: Gateway;
let session: LegacySession;

beforeAll(async () => {
  const servers: Record<string, JsonObject> = {
    untrusted: fixture('breaking', [`--dir=${dir}`]),
    stubborn: fixture('breaking', [`--dir=${dir}`], { trust: true }),
  };
  for (const moment of MOMENTS)
    for (const client of ERAS) {
      const isolation = client === 'legacy' ? 'shared' : 'session';
      servers[stdioNamed(moment, client)] = fixture('breaking', [`--dir=${dir}`], { trust: true, isolation });
    }
  for (const era of ERAS) {
    const made = await startMade({ era, tools: BREAKING_TOOLS, own: breaksOff });
    endLater(() => made.close());
    servers[`h-${era}`] = { type: 'http', url: made.url, trust: true };
  }
  assay = await startGateway({ servers });
  await assay.settled();
  session = await openSession(assay.url);
});

/** Disconnects without a response or within one, or responds like a proxy whose server is gone. */
function breaksOff({ incoming, response }: Exchange): boolean {
  if (incoming.method !== 'tools/call') return false;
  const moment = workOn(incoming, dir);
  if (moment === undefined) return false;
  if (moment === 'before') response.destroy();
  else if (moment === 'during') cutShort(response);
  else response.writeHead(502).end('<html>Bad gateway</html>');
  return true;
}

function cutShort(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
  response.write('{"jsonrpc":"2.0",', () => response.destroy());
}

interface Calling {
  readonly client?: Era;
  readonly moment?: Moment;
  /** How many calls are cut off before one succeeds. */
  readonly breaks?: number;
}

interface Called {
  readonly answer: Json;
  readonly arrived: number;
  readonly ran: number;
}

async function call(
  tool: string,
  { client = 'legacy', moment = 'after', breaks = 1 }: Calling = {},
): Promise<Called> {
  const id = `${tool} ${client} ${moment} ${breaks}`;
  const params = { name: tool, arguments: breaking(id, moment, breaks) };
  const answer = await (client === 'legacy'
    ? session.ask('tools/call', params)
    : modernAsk(assay.url, 'tools/call', { params }));
  return { answer, arrived: workDone(dir, id, 'arrived'), ran: workDone(dir, id, 'ran') };
}

const ENDED_ONCE = {
  code: -32603,
  data: { sent: { effect: 'unknown', times: 1, mayRepeat: false } },
};

const CASES = MOMENTS.flatMap((moment) =>
  ERAS.flatMap((client) =>
    [stdioNamed(moment, client), 'h-legacy', 'h-modern'].map((server) => ({ moment, client, server })),
  ),
);

describe.concurrent.each(CASES)('a $client call to $server that is cut off $moment the work', (given) => {
  const { server, ...calling } = given;

  it('is retried for an idempotent or read-only tool; any other tool runs at most once', async () => {
    for (const tool of ['set', 'read']) {
      const { answer, arrived } = await call(`${server}_${tool}`, calling);
      expect([tool, at(answer, 'error'), arrived]).toEqual([tool, undefined, 2]);
    }
    const { answer, arrived, ran } = await call(`${server}_add`, calling);
    expect(at(answer, 'error')).toMatchObject(ENDED_ONCE);
    expect([arrived, ran]).toEqual([1, given.moment === 'after' ? 1 : 0]);
  });
});

describe('a call to an untrusted server', () => {
  it('is not retried, and reports that its effect is unknown and what to do', async () => {
    const { answer } = await call('untrusted_add');
    expect(at(answer, 'error', 'message')).toBe(
      'Server "untrusted" ended before it responded: exited with code 7. It is unknown whether the call took effect. It was not sent again, because the tool is not known to be idempotent: check its effect before you repeat it.',
    );
  });

  it('is not retried, even if the tool is declared read-only or idempotent', async () => {
    for (const tool of ['untrusted_set', 'untrusted_read']) {
      const { answer, arrived } = await call(tool);
      expect(at(answer, 'error')).toMatchObject(ENDED_ONCE);
      expect(arrived).toBe(1);
    }
  });
});

describe('a call that fails each time', () => {
  it('is retried three times over HTTP, and reports how often it was sent', async () => {
    const again = { server: 'h-legacy', outcome: 'failed' };
    const before = await readGauge(assay, 'assay_retries_total', again);
    const { answer, arrived } = await call('h-legacy_set', { moment: 'before', breaks: 9 });
    expect(at(answer, 'error')).toMatchObject({
      message:
        'Server "h-legacy" ended before it responded: it closed the connection. It is unknown whether the call took effect. It was sent 4 times. You can safely repeat it: the tool is read-only or idempotent.',
      data: { code: 'SERVER_ENDED', sent: { effect: 'unknown', times: 4, mayRepeat: true } },
    });
    expect(arrived).toBe(4);
    expect(await readGauge(assay, 'assay_retries_total', again)).toBe((before || 0) + 3);
  });

  it('is sent to a stdio server at most twice', async () => {
    const { answer, arrived } = await call('stubborn_read', { breaks: 9 });
    expect(at(answer, 'error', 'data', 'sent')).toEqual({ effect: 'unknown', times: 2, mayRepeat: true });
    expect(arrived).toBe(2);
  });
});

describe('an approved call whose connection was lost', () => {
  it('can be repeated without another approval, but only once and with the same arguments', async () => {
    const home = tempDir();
    const token = await keepToken(home, 'boss', { scopes: ['admin'] });
    const made = await startMade({ era: 'modern', tools: BREAKING_TOOLS, own: breaksOff });
    endLater(() => made.close());
    const asking = await startGateway({
      home,
      servers: { crm: { type: 'http', url: made.url, trust: true } },
      settings: { settings: { approvals: 'gateway', 'limits.retries': 0, 'limits.approvalWaitMs': 20_000 } },
    });
    await asking.settled();
    const admin = adminClient(asking, token);
    const client = await openSession(asking.url);
    const set = (id: string): Promise<Json> =>
      client.ask('tools/call', { name: 'crm_set', arguments: breaking(id, 'before', 1) });
    const approveNext = async (): Promise<void> => {
      const id = await until('a call waits for approval', async () => {
        const [waiting] = listAt((await admin.get('/approvals?state=pending')).json(), 'approvals');
        return waiting === undefined ? undefined : textAt(waiting, 'id');
      });
      await admin.post(`/approvals/${id}/approve`, {});
    };
    const first = set('repeated');
    await approveNext();
    expect(at(await first, 'error', 'data', 'sent')).toEqual({
      effect: 'unknown',
      times: 1,
      mayRepeat: true,
    });
    expect(textOf(await set('repeated'))).toBe(JSON.stringify(breaking('repeated', 'before', 1)));
    for (const id of ['repeated', 'another']) {
      const asked = set(id);
      await approveNext();
      await asked;
    }
  });
});
