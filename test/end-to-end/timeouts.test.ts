import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/endings.ts';
import { at, namesAt, parseJson, type Json } from '../support/json.ts';
import { openSession, textOf, type LegacySession } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture } from '../support/paths.ts';

describe("a server's time limit", () => {
  let assay: Gateway;
  let session: LegacySession;
  beforeAll(async () => {
    assay = await startGateway({
      servers: {
        h: fixture('hanger', ['--mode=calls'], { timeoutMs: 400 }),
        c: fixture('cancellable', [], { timeoutMs: 400 }),
        steady: fixture('cancellable', [], { timeoutMs: 1_500 }),
        patient: fixture('plain', [], { timeoutMs: 5_000 }),
      },
    });
    await assay.settled();
    session = await openSession(assay.url);
    // The limit also applies to reading the tool lists, which is retried a second later.
    await until('all tools are listed', async () => {
      const names = namesAt(await session.ask('tools/list'), 'result', 'tools');
      return ['h_never', 'c_wait', 'steady_steps'].every((name) => names.includes(name)) ? true : undefined;
    });
  });

  it('ends a call with an error that names the server and the limit', async () => {
    const startMs = Date.now();
    for (const ask of [
      () => session.ask('tools/call', { name: 'h_never', arguments: {} }),
      () => modernAsk(assay.url, 'tools/call', { params: { name: 'h_never', arguments: {} } }),
    ]) {
      const error = at(await ask(), 'error');
      expect(error).toMatchObject({ code: -32603, data: { code: 'SERVER_TIMEOUT' } });
      expect(at(error, 'message')).toContain('"h"');
      expect(at(error, 'message')).toContain('400');
    }
    expect(Date.now() - startMs).toBeGreaterThan(700);
    expect(Date.now() - startMs).toBeLessThan(scaledMs(3_000));
  });

  it('cancels the call at the server', async () => {
    await session.ask('tools/call', { name: 'c_wait', arguments: {} });
    await until('the cancellation of that call', async () => {
      const seen = parseJson(await session.call('c_seen'));
      // On a slow machine, the first lists were cancelled too, which that server has answered by then.
      return (at(seen, 'cancelled') as Json[]).some((each) => at(each, 'known') === true) ? true : undefined;
    });
  });

  it('restarts with each progress notification', async () => {
    const stream = await session.stream('tools/call', {
      name: 'steady_steps',
      arguments: { steps: 4, intervalMs: 500, who: 'a' },
      _meta: { progressToken: 'p' },
    });
    await stream.ended;
    expect(textOf(stream.messages().at(-1) ?? null)).toBe('"a" took 4 steps');
  });

  it('restarts with progress that only Assay has asked for', async () => {
    const worked = await session.call('steady_steps', { steps: 4, intervalMs: 500, who: 'b' });
    expect(worked).toBe('"b" took 4 steps');
  });

  it('is separate for each server', async () => {
    expect(await session.call('patient_sleep', { ms: 900 })).toBe('slept 900');
  });
});
