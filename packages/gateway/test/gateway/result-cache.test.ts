import { describe, expect, it } from 'vitest';
import { ResultCache, type CachedServer } from '../../src/gateway/catalog/result-cache.ts';
import type { Link, Reply } from '../../src/gateway/ports/link.ts';
import { readServerMessage } from '@assay-mcp/protocol/message';
import { definition, tool } from './listed-server.ts';
import { listLink } from './list-link.ts';

const TOOLS = [definition('tools', tool('read'))];

interface Standing extends CachedServer {
  link: Link | undefined;
  inventory: CachedServer['inventory'];
}

function standing(): Standing {
  return { link: listLink(() => '{}'), inventory: { tools: TOOLS } };
}

function replyOf(text: string): Reply {
  const message = readServerMessage(
    Buffer.from(`{"jsonrpc":"2.0","id":7,"result":{"is": ${JSON.stringify(text)}}}`),
  );
  if (message.kind !== 'response') throw new Error('no response');
  return { message, era: 'legacy' };
}

interface Given {
  readonly maxBytes?: number;
  readonly nowMs?: () => number;
}

function cacheWith({ maxBytes = 1_000_000, nowMs = () => 0 }: Given = {}): ResultCache {
  return new ResultCache({ limits: { 'cache.ttlMs': 100, 'cache.maxBytes': maxBytes }, nowMs });
}

function keep(cache: ResultCache, server: CachedServer, key: string, text = key): void {
  cache.store(cache.begin(server), key, { reply: replyOf(text), ttlMs: 100 });
}

function found(cache: ResultCache, server: CachedServer, key: string): string | undefined {
  return cache.find(server, key)?.message.bytes.toString();
}

const INVALIDATIONS: Readonly<Record<string, (cache: ResultCache, server: Standing) => void>> = {
  'the server reconnects': (_, server) => (server.link = listLink(() => '{}')),
  'the server disconnects': (_, server) => (server.link = undefined),
  'the tools of the server change': (_, server) => (server.inventory = { tools: [...TOOLS] }),
  'a call that may change something begins': (cache, server) => cache.write(server),
};

describe('a cached result', () => {
  it('is the response as the server wrote it, until it expires', () => {
    let nowMs = 0;
    const cache = cacheWith({ nowMs: () => nowMs });
    const server = standing();
    keep(cache, server, 'a');
    nowMs = 99;
    expect(found(cache, server, 'a')).toBe(replyOf('a').message.bytes.toString());
    expect([found(cache, server, 'b'), found(cache, standing(), 'a')]).toEqual([undefined, undefined]);
    nowMs = 100;
    expect([found(cache, server, 'a'), cache.size]).toEqual([undefined, 0]);
  });

  it.each(Object.entries(INVALIDATIONS))(
    'is dropped, and a pending one not stored, if %s',
    (_, invalidate) => {
      const cache = cacheWith();
      const [server, other] = [standing(), standing()];
      keep(cache, server, 'a');
      keep(cache, other, 'b');
      const ticket = cache.begin(server);
      invalidate(cache, server);
      cache.store(ticket, 'late', { reply: replyOf('late'), ttlMs: 100 });
      expect(['a', 'late'].map((key) => found(cache, server, key))).toEqual([undefined, undefined]);
      expect(found(cache, other, 'b')).toBeDefined();
    },
  );

  it('is not stored if its request began while a call that may change something was running', () => {
    const cache = cacheWith();
    const server = standing();
    const [endFirst, endSecond] = [cache.write(server), cache.write(server)];
    endFirst();
    keep(cache, server, 'a');
    expect(cache.size).toBe(0);
    const ticket = cache.begin(server);
    endSecond();
    cache.store(ticket, 'b', { reply: replyOf('b'), ttlMs: 100 });
    expect(cache.size).toBe(0);
    keep(cache, server, 'c');
    expect(cache.size).toBe(1);
  });

  it('is evicted first if it is the least recently used', () => {
    const cache = cacheWith({ maxBytes: 2_000 });
    const server = standing();
    for (const key of ['a', 'b', 'c']) keep(cache, server, key);
    found(cache, server, 'a');
    keep(cache, server, 'd');
    expect(['a', 'b', 'c', 'd'].filter((key) => found(cache, server, key) !== undefined)).toEqual([
      'a',
      'c',
      'd',
    ]);
  });

  it('is not stored if it is too large, and evicts no other', () => {
    const cache = cacheWith({ maxBytes: 2_000 });
    const server = standing();
    keep(cache, server, 'a');
    keep(cache, server, 'large', 'x'.repeat(1_500));
    expect(['a', 'large'].map((key) => found(cache, server, key) !== undefined)).toEqual([true, false]);
  });

  it('is removed after its expiry even if it is never requested again', () => {
    let nowMs = 0;
    const cache = cacheWith({ nowMs: () => nowMs });
    keep(cache, standing(), 'a');
    nowMs = 60_000;
    keep(cache, standing(), 'b');
    expect(cache.size).toBe(1);
  });
});
