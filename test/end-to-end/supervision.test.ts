import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { serverIn, type Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater, kill, sleep, until, untilLogged } from '../support/endings.ts';
import { at, numberAt, textAt, type Json } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { fixture, tempDir, writeText } from '../support/paths.ts';

const NO_WAKING_MS = 5_000;

describe('the state of a server', () => {
  const counter = `${tempDir()}/starts`;
  const starts = (): number => Number(readFileSync(counter, 'utf8'));
  let assay: Gateway;
  let session: LegacySession;
  const health = async (name: string): Promise<Json> => serverIn(await assay.health(), name);
  const reaches = (name: string, state: string, limitMs?: number): Promise<Json> =>
    until(
      `${name} is ${state}`,
      async () => {
        const server = await health(name);
        return at(server, 'state') === state ? server : undefined;
      },
      limitMs,
    );
  const refusal = async (name: string): Promise<string> =>
    textAt(await session.ask('tools/call', { name: `${name}_echo` }), 'error', 'message');

  beforeAll(async () => {
    const denying = createServer((_, response) => response.writeHead(401).end()).listen(0, '127.0.0.1');
    endLater(async () => void denying.close());
    await new Promise((resolve) => denying.once('listening', resolve));
    const url = `http://127.0.0.1:${(denying.address() as AddressInfo).port}/mcp`;
    assay = await startGateway({
      servers: {
        denied: { url },
        deniedSse: { type: 'sse', url },
        plain: fixture('plain'),
        hanger: fixture('hanger', [], { timeoutMs: 500 }),
        crasher: fixture('crasher'),
        looping: fixture('crasher', [`--state=${counter}`, '--fail-starts=7']),
        absent: { command: 'no-such-command-anywhere' },
        bad: { command: 42 },
        alien: fixture('told', [`--file=${writeText('{"version":"1999-01-01"}')}`]),
      },
    });
    session = await openSession(assay.url);
  });

  it('is "starting" during its handshake', async () => {
    expect(await health('hanger')).toEqual({ name: 'hanger', state: 'starting' });
    expect(await refusal('hanger')).toBe('Server "hanger" is not available: it has not started yet.');
  });

  it('is "up" once it is ready, with era and revision', async () => {
    expect(await reaches('plain', 'up')).toMatchObject({ era: 'legacy', revision: '2025-11-25', tools: 11 });
  });

  it('is "restarting" after an exit, with the cause, and soon "up" again', async () => {
    await reaches('crasher', 'up');
    const pid = Number(await session.call('crasher_pid'));
    kill(pid, 'SIGKILL');
    expect(await reaches('crasher', 'restarting')).toMatchObject({
      cause: 'was ended by SIGKILL',
      causeCode: 'PROCESS_KILLED',
      failures: 1,
    });
    await reaches('crasher', 'up');
    expect(Number(await session.call('crasher_pid'))).not.toBe(pid);
  });

  it('is "refused" with the reason for a missing command, invalid entry, unknown protocol or HTTP 401', async () => {
    const absent = await reaches('absent', 'refused');
    expect(textAt(absent, 'cause')).toContain('command "no-such-command-anywhere" not found');
    expect(numberAt(absent, 'nextTryMs')).toBeGreaterThan(30_000);
    const bad = await reaches('bad', 'refused');
    expect(textAt(bad, 'cause')).toMatch(/line \d+: mcpServers\.bad\.command/);
    await untilLogged(assay, 'mcpServers.bad.command');
    expect(textAt(await reaches('alien', 'refused'), 'cause')).toContain('"1999-01-01"');
    for (const name of ['denied', 'deniedSse'])
      expect(await reaches(name, 'refused')).toMatchObject({ causeCode: 'CREDENTIALS_REFUSED' });
  });

  it('is "backoff" after six exits in a row: calls fail at once, and a later one restarts it', async () => {
    const waiting = await reaches('looping', 'backoff', 60_000);
    expect(waiting).toMatchObject({ cause: 'exited with code 3: crasher: start 1 fails', failures: 6 });
    // The first attempt started it twice, the second time without probing its era.
    expect(starts()).toBe(7);
    expect(await refusal('looping')).toContain('exited with code 3');
    expect(starts()).toBe(7);
    await sleep(NO_WAKING_MS);
    expect(await refusal('looping')).toContain('exited with code 3');
    await reaches('looping', 'up');
    expect(await session.call('looping_echo')).toBe('alive');
  });

  it('never affects another server', async () => {
    expect(await session.call('plain_label')).toBe('plain');
  });
});
