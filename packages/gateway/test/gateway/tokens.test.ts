import { describe, expect, it } from 'vitest';
import {
  createToken,
  listTokens,
  revokeToken,
  type TokenRequest,
} from '../../src/gateway/services/tokens.ts';
import { mintToken } from '../../src/adapters/auth/mint-token.ts';
import type { StoredToken } from '../../src/gateway/ports/store.ts';
import { MemoryTokens } from '../../../../test/support/memory-store.ts';

const NOW = 1_000_000;
const INPUT: TokenRequest = { name: 'ci', scopes: ['read', 'mcp'], lifetimeMs: undefined };

function create(store: MemoryTokens, input: Partial<TokenRequest> = {}): ReturnType<typeof createToken> {
  return createToken({ ...INPUT, ...input }, { store, mint: mintToken, nowMs: NOW, by: 'op' });
}

async function storedIn(store: MemoryTokens): Promise<readonly StoredToken[]> {
  const tokens = await store.tokens();
  return tokens.ok ? tokens.value : [];
}

describe('a token', () => {
  it('is stored with everything requested, and without its secret', async () => {
    const store = new MemoryTokens();
    const created = await create(store, { lifetimeMs: 500 });
    if (!created.ok) throw new Error(created.error.code);
    const { token: text, ...view } = created.value;
    const stored = await storedIn(store);
    expect(stored).toEqual([
      {
        id: text.split('_')[1],
        name: 'ci',
        scopes: ['read', 'mcp'],
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        createdMs: NOW,
        expiresMs: NOW + 500,
        revokedMs: undefined,
      },
    ]);
    expect(JSON.stringify([stored, view])).not.toContain(text.split('_')[2]);
    expect(await listTokens(store, NOW)).toEqual({ ok: true, value: [view] });
    expect(view).toEqual({
      id: text.split('_')[1],
      name: 'ci',
      scopes: ['read', 'mcp'],
      state: 'valid',
      createdAt: new Date(NOW).toISOString(),
      expiresAt: new Date(NOW + 500).toISOString(),
      revokedAt: null,
    });
  });

  it('is not created if its name is invalid or taken, or if it cannot be stored', async () => {
    const store = new MemoryTokens();
    expect(await create(store, { name: 'local' })).toMatchObject({ error: { code: 'ARGUMENTS_INVALID' } });
    expect(await store.tokens()).toEqual({ ok: true, value: [] });
    await create(store);
    expect(await create(store)).toEqual({ ok: false, error: { code: 'TOKEN_EXISTS', name: 'ci' } });
    store.isAvailable = false;
    expect(await create(store, { name: 'other' })).toMatchObject({ error: { code: 'STORE_UNAVAILABLE' } });
  });

  it('can be revoked by its name, its id or its text', async () => {
    const store = new MemoryTokens();
    for (const by of ['name', 'id', 'text'] as const) {
      const created = await create(store);
      if (!created.ok) throw new Error(created.error.code);
      const { token: text, ...view } = created.value;
      const revoked = await revokeToken({ name: 'ci', id: view.id, text }[by], {
        store,
        nowMs: NOW + 1,
        by: 'op',
      });
      expect(revoked).toEqual({
        ok: true,
        value: { ...view, state: 'revoked', revokedAt: new Date(NOW + 1).toISOString() },
      });
    }
    expect(await revokeToken('ci', { store, nowMs: NOW, by: 'op' })).toEqual({
      ok: false,
      error: { code: 'TOKEN_UNKNOWN', name: 'ci' },
    });
  });

  it('is audited when it is created and revoked, without revealing its secret', async () => {
    const store = new MemoryTokens();
    const created = await create(store, { lifetimeMs: 500 });
    if (!created.ok) throw new Error(created.error.code);
    const { token: text, ...view } = created.value;
    await create(store);
    await revokeToken('ci', { store, nowMs: NOW + 1, by: 'other' });
    await revokeToken('ci', { store, nowMs: NOW + 2, by: 'other' });
    const target = { kind: 'token', id: view.id, name: 'ci' };
    expect(store.auditEvents).toEqual([
      {
        atMs: NOW,
        subject: 'op',
        action: 'token.create',
        target,
        after: { scopes: ['read', 'mcp'], expiresAt: new Date(NOW + 500).toISOString() },
      },
      { atMs: NOW + 1, subject: 'other', action: 'token.revoke', target },
    ]);
    const [stored] = await storedIn(store);
    for (const secret of [stored?.hash, text.split('_')[2]])
      expect(JSON.stringify(store.auditEvents)).not.toContain(secret);
  });

  it('is not repeated in the refusal if it is unknown', async () => {
    const store = new MemoryTokens();
    const { text, id } = mintToken();
    expect(await revokeToken(text, { store, nowMs: NOW, by: 'op' })).toEqual({
      ok: false,
      error: { code: 'TOKEN_UNKNOWN', name: id },
    });
  });
});
