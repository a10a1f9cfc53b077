import { describe, expect, it } from 'vitest';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { err } from '@assay-mcp/kit/result';
import type { Connect } from '../../src/gateway/ports/link.ts';
import type { Server } from '../../src/gateway/catalog/server.ts';
import { StartLimiter } from '../../src/gateway/catalog/start-limiter.ts';
import { until } from '../../../../test/support/endings.ts';
import { listed, type Given } from './listed-server.ts';

/** Servers that share a limiter with one slot, and fail to start once they are told to. */
function sharingOneSlot(
  names: readonly string[],
  given: Given = {},
): {
  readonly servers: readonly Server[];
  /** The servers whose process was started, in this order. */
  readonly started: string[];
  readonly fail: (name: string) => void;
} {
  const starts = new StartLimiter({ slots: 1, slotMs: 600_000 });
  const started: string[] = [];
  const fails = new Map<string, () => void>();
  const connect: Connect = ({ name }, { signal }) =>
    new Promise((resolve) => {
      started.push(name);
      fails.set(name, () => resolve(err({ code: 'COMMAND_NOT_FOUND', command: name })));
      signal.addEventListener('abort', () => resolve(err({ code: 'LINK_CLOSED' })));
    });
  const servers = names.map((name) => listed(name, {}, { connect, starts, ...given }));
  return { servers, started, fail: (name) => fails.get(name)?.() };
}

describe('a server that starts while others do', () => {
  it('waits for its turn, and one that a call waits for goes first', async () => {
    const { servers, started, fail } = sharingOneSlot(['a', 'b', 'c']);
    servers.forEach((server) => server.start());
    expect(started).toEqual(['a']);
    const waiting = servers[2]?.waitUntilReady(new Cancellation());
    fail('a');
    await until('c is started', () => (started.length === 2 ? true : undefined));
    expect(started).toEqual(['a', 'c']);
    fail('c');
    expect(await waiting).toMatchObject({ ok: false, error: { code: 'SERVER_UNAVAILABLE' } });
    await until('b is started', () => (started.length === 3 ? true : undefined));
    fail('b');
    await Promise.all(servers.map((server) => server.stop()));
  });

  it('is never started if it is stopped before its turn', async () => {
    const { servers, started, fail } = sharingOneSlot(['a', 'b']);
    servers.forEach((server) => server.start());
    await servers[1]?.stop();
    fail('a');
    await servers[0]?.stop();
    expect(started).toEqual(['a']);
  });

  it('does not wait if it has no process', () => {
    const url = new URL('http://127.0.0.1:1/');
    const transport = { kind: 'http', flavour: 'auto', url, headers: {} } as const;
    const { servers, started } = sharingOneSlot(['a', 'b'], { transport });
    servers.forEach((server) => server.start());
    expect(started).toEqual(['a', 'b']);
  });

  it('waits only a while for one that hangs', async () => {
    const starts = new StartLimiter({ slots: 1, slotMs: 1 });
    starts.enter(false);
    const next = starts.enter(false);
    expect(next.isQueued).toBe(true);
    await next.turn;
    expect(next.isQueued).toBe(false);
    next.end();
  });

  it('goes behind the process of a client that waits for it', async () => {
    const { servers, started } = sharingOneSlot(['a', 'b', 'c']);
    servers.forEach((server) => server.start());
    const profile = { capabilities: '{}', clientInfo: undefined, subject: 's' };
    const patience = { timeoutMs: 60_000, cancellation: undefined };
    const links = servers[2]?.privateLinks;
    void links?.take({ choice: { kind: 'own', key: 'k', profile }, session: undefined }, patience);
    expect(started).toEqual(['a']);
    void servers[0]?.stop();
    await until('the next one is started', () => (started.length === 2 ? true : undefined));
    expect([started[1], servers[1]?.state.state, links?.size]).toEqual(['c', 'starting', 1]);
    await Promise.all([servers[1]?.stop()]);
  });
});
