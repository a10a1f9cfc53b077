import { describe, expect, it } from 'vitest';
import { startAssay, type Assay } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { kill, until } from '../support/endings.ts';
import { send } from '../support/http.ts';
import { at } from '../support/json.ts';
import { modernCall, modernSend } from '../support/modern.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';
import { rawRows, startProcess, type StoreProcess } from '../support/stores.ts';
import { bearer, createToken, keepToken, revokeToken } from '../support/tokens.ts';

const servers = { plain: fixture('plain') };
const CALLS = 200;
/** Generous, as other processes may be slow to start; these tests do not measure speed. */
const PATIENCE_MS = 30_000;

/** Has another process lock this home's store, and waits until it does. */
async function lock(home: string, ms: number): Promise<StoreProcess & { readonly isHeld: () => boolean }> {
  const other = startProcess({ home, databaseUrl: undefined }, 'lock', String(ms));
  await until('the store is locked', () => other.lines()[0], PATIENCE_MS);
  let isHeld = true;
  void other.ended.then(() => (isHeld = false));
  return { ...other, isHeld: () => isHeld };
}

async function statusWith(assay: Assay, token: string): Promise<number> {
  return (await modernSend(assay.url, 'tools/list', { headers: bearer(token) })).status;
}

function untilStatus(assays: readonly Assay[], token: string, status: number): Promise<unknown> {
  return until(
    `every serve answers this token with ${status}`,
    async () => {
      const statuses = await Promise.all(assays.map((assay) => statusWith(assay, token)));
      return statuses.every((one) => one === status) ? true : undefined;
    },
    PATIENCE_MS,
  );
}

function untilReady(assay: Assay, token: string): Promise<unknown> {
  const ask = { params: { name: 'plain_label', arguments: {} }, headers: bearer(token) };
  return until('the server stands', async () =>
    (await modernSend(assay.url, 'tools/call', ask)).text.includes('"plain"') ? true : undefined,
  );
}

/** Makes `CALLS` calls, eight concurrently, each with a unique text; returns actual and expected results. */
async function callMany(
  assay: Assay,
  token: string,
  first: number,
): Promise<{ readonly got: readonly string[]; readonly expected: readonly string[] }> {
  const expected = Array.from({ length: CALLS }, (_, at) => JSON.stringify({ call: first + at }));
  const got: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < CALLS) {
      const mine = next++;
      const params = { name: 'plain_echo', arguments: { call: first + mine } };
      const answer = await modernSend(assay.url, 'tools/call', { params, headers: bearer(token) });
      got[mine] = String(at(answer.json(), 'result', 'content', 0, 'text'));
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return { got, expected };
}

describe.concurrent('a lock held by another process on the store', () => {
  it('delays writes while it is held for 3 s, but affects no call, token or health check', async () => {
    const home = tempDir();
    const token = await keepToken(home, 'before');
    const assay = await startAssay({ servers, home, env: { ASSAY_MCP_ACCESS: 'token' } });
    await untilReady(assay, token);
    const other = await lock(home, 3_000);
    const creating = runAssay(['token', 'create', 'meanwhile', '--home', home]);
    let rounds = 0;
    do {
      const { got, expected } = await callMany(assay, token, rounds * CALLS);
      expect(got).toEqual(expected);
      const health = await send(`http://127.0.0.1:${assay.port}/health`, { method: 'GET' });
      expect([health.status, at(health.json(), 'status')]).toEqual([200, 'ok']);
      rounds += 1;
    } while (other.isHeld());
    const created = await creating;
    expect([created.code, created.stderr]).toEqual([0, expect.stringContaining('"meanwhile"')]);
    await untilStatus([assay], created.stdout.trim(), 200);
    expect(assay.stderr()).not.toContain('"level":"error"');
  });

  it('makes a write fail with an error after 5 s, leaving nothing behind, while calls continue', async () => {
    const home = tempDir();
    const token = await keepToken(home, 'before');
    const assay = await startAssay({ servers, home, env: { ASSAY_MCP_ACCESS: 'token' } });
    await untilReady(assay, token);
    const other = await lock(home, 60_000);
    const { code, stdout, stderr } = await runAssay(['token', 'create', 'late', '--home', home]);
    expect(other.isHeld()).toBe(true);
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toContain('another process holds a lock on it');
    const { got, expected } = await callMany(assay, token, 0);
    expect(got).toEqual(expected);
    kill(other.child.pid!, 'SIGKILL');
    await other.ended;
    await untilStatus([assay], await createToken(home, 'late'), 200);
  });

  it('does not prevent `serve` from starting', async () => {
    const home = tempDir();
    const token = await keepToken(home, 'before');
    const other = await lock(home, 60_000);
    const assay = await startAssay({ servers, home, env: { ASSAY_MCP_ACCESS: 'token' } });
    await untilReady(assay, token);
    expect(other.isHeld()).toBe(true);
  });

  it('loses no accepted definition after 5 s: it is stored once the lock is released', async () => {
    const home = tempDir();
    const assay = await startAssay({ servers: { changer: fixture('changer') }, home });
    await assay.settled();
    const digests = (): Promise<readonly unknown[]> =>
      rawRows({ home, databaseUrl: undefined }, 'select digest from assay_accepted');
    const before = await until('the server is in the store', async () => {
      const { length } = await digests();
      return length > 0 ? length : undefined;
    });
    const other = await lock(home, 60_000);
    expect(await modernCall(assay.url, 'changer_grow')).toBe('extra_0');
    await until(
      'the writing of it was given up',
      () => (assay.stderr().includes('could not be kept') ? true : undefined),
      PATIENCE_MS,
    );
    expect(await digests()).toHaveLength(before);
    kill(other.child.pid!, 'SIGKILL');
    await until(
      'it is in the store all the same',
      async () => ((await digests()).length === before + 1 ? true : undefined),
      PATIENCE_MS,
    );
    expect(assay.stderr().match(/could not be kept/g)).toHaveLength(1);
  });
});

describe('two `serve` processes on one home, with a config each', () => {
  it('both refuse a token revoked by a third process and accept one that it created', async () => {
    const home = tempDir();
    const token = await keepToken(home, 'first');
    const start = (): Promise<Assay> =>
      startAssay({ config: writeConfig(servers), home, env: { ASSAY_MCP_ACCESS: 'token' } });
    const assays = [await start(), await start()];
    await untilStatus(assays, token, 200);
    await revokeToken(home, 'first');
    await untilStatus(assays, token, 401);
    await untilStatus(assays, await createToken(home, 'second'), 200);
    expect(await Promise.all(assays.map((assay) => statusWith(assay, token)))).toEqual([401, 401]);
  });
});
