import { afterEach, describe, expect, it } from 'vitest';
import { mintToken } from '../../../src/adapters/auth/mint-token.ts';
import { TokenGate, type TokenGateOptions } from '../../../src/adapters/auth/token-gate.ts';
import type { Scope } from '../../../src/core/subject.ts';
import type { Log } from '../../../src/gateway/ports.ts';
import type { StoredToken } from '../../../src/gateway/ports/store.ts';
import { MemoryTokens } from '../../support/memory-store.ts';
import { sleep, until } from '../../support/endings.ts';

const NOW = Date.now();
const HERE = '10.0.0.1';
const gates: TokenGate[] = [];

afterEach(() => {
  for (const gate of gates.splice(0)) gate.close();
});

interface Made {
  readonly text: string;
  readonly kept: StoredToken;
}

function make(name: string, more: Partial<StoredToken> = {}): Made {
  const { text, id, hash } = mintToken();
  const scopes: readonly Scope[] = ['mcp'];
  const kept = {
    id,
    name,
    scopes,
    hash,
    createdMs: NOW,
    expiresMs: undefined,
    revokedMs: undefined,
    ...more,
  };
  return { text, kept };
}

/** Of the process itself, for others of its user. */
const OWN = mintToken();

async function open(
  tokens: readonly Made[],
  more: Partial<Pick<TokenGateOptions, 'operatorToken' | 'mostFailures' | 'monotonicMs'>> = {},
): Promise<{ readonly gate: TokenGate; readonly store: MemoryTokens; readonly logged: string[] }> {
  const store = new MemoryTokens();
  for (const { kept } of tokens) await store.addToken(kept);
  const logged: string[] = [];
  const write = (message: string): void => void logged.push(message);
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const own = { ownToken: OWN, operatorToken: undefined };
  const gate = await TokenGate.open({ store, ...own, mostFailures: 20, log, ...more });
  gates.push(gate);
  return { gate, store, logged };
}

/** The subject that is let in, or the code of the refusal. */
function verdict(gate: TokenGate, token: string, from = HERE, nowMs = NOW): string {
  const admitted = gate.admit(`Bearer ${token}`, from, nowMs);
  return admitted.ok ? admitted.value.subject : admitted.error.code;
}

/** With another secret behind the same id. */
function forged({ kept }: Made): string {
  return mintToken().text.replace(/[0-9a-f]{12}/, kept.id);
}

describe('a token', () => {
  it('lets its holder in under its name, with its scopes', async () => {
    const ci = make('ci', { scopes: ['read', 'mcp'] });
    const { gate } = await open([make('other'), ci]);
    expect(gate.admit(`Bearer ${ci.text}`, HERE, NOW)).toEqual({
      ok: true,
      value: { subject: 'ci', scopes: ['read', 'mcp'] },
    });
  });

  it('is refused where its id is unknown, its secret is another, or nothing was brought that can be one', async () => {
    const ci = make('ci');
    const { gate } = await open([ci]);
    const secret = ci.text.split('_')[2] ?? '';
    for (const token of [mintToken().text, forged(ci), ci.text.slice(0, -1), secret, ci.kept.hash])
      expect([token, verdict(gate, token)]).toEqual([token, 'TOKEN_REQUIRED']);
    for (const header of [undefined, '', 'Bearer', ci.text, `Basic ${ci.text}`])
      expect(gate.admit(header, HERE, NOW)).toEqual({ ok: false, error: { code: 'TOKEN_REQUIRED' } });
  });

  it('is refused once it is revoked, and from the moment at which it expires', async () => {
    const expiring = make('expiring', { expiresMs: NOW + 1_000 });
    const revoked = make('revoked', { revokedMs: NOW - 1 });
    const { gate } = await open([expiring, revoked]);
    expect(verdict(gate, expiring.text, HERE, NOW + 999)).toBe('expiring');
    expect(verdict(gate, expiring.text, HERE, NOW + 1_000)).toBe('TOKEN_REQUIRED');
    expect(verdict(gate, revoked.text)).toBe('TOKEN_REQUIRED');
  });

  it('whose hash the store gives damaged lets nobody in, and harms no other', async () => {
    const damaged = make('damaged', { hash: 'beef' });
    const ci = make('ci');
    const { gate } = await open([damaged, ci]);
    expect(verdict(gate, damaged.text)).toBe('TOKEN_REQUIRED');
    expect(verdict(gate, ci.text)).toBe('ci');
  });

  it('that another process makes or revokes counts as soon as the store announces it', async () => {
    const { gate, store } = await open([]);
    const ci = make('ci');
    expect(verdict(gate, ci.text)).toBe('TOKEN_REQUIRED');
    await store.addToken(ci.kept);
    await until('the new token holds', () => (verdict(gate, ci.text) === 'ci' ? true : undefined));
    await store.revokeToken('ci', NOW);
    await until('it does not hold any more', () =>
      verdict(gate, ci.text) === 'TOKEN_REQUIRED' ? true : undefined,
    );
  });

  it('holds on while the store cannot be read, which is logged once, and follows it when it can', async () => {
    const ci = make('ci');
    const { gate, store, logged } = await open([ci]);
    store.isAvailable = false;
    for (let count = 0; count < 3; count += 1) {
      store.announce(['tokens']);
      await sleep(5);
    }
    expect(verdict(gate, ci.text)).toBe('ci');
    expect(logged).toEqual(['the tokens cannot be read; those last read hold']);
    store.isAvailable = true;
    await until('the log says that all is well', () => logged[1]);
    expect(logged[1]).toBe('the tokens could be read again');
    expect(verdict(gate, ci.text)).toBe('ci');
  });

  it('expires also while the store cannot be read', async () => {
    const ci = make('ci', { expiresMs: NOW + 1_000 });
    const { gate, store } = await open([ci]);
    store.isAvailable = false;
    store.announce(['tokens']);
    expect(verdict(gate, ci.text, HERE, NOW + 1_000)).toBe('TOKEN_REQUIRED');
  });
});

describe('the operator’s token', () => {
  it('allows everything, whatever its form, and stands in no store', async () => {
    for (const operatorToken of ['any text of 16+ letters', mintToken().text]) {
      const { gate } = await open([make('ci')], { operatorToken });
      expect(gate.admit(`Bearer ${operatorToken}`, HERE, NOW)).toEqual({
        ok: true,
        value: { subject: 'operator', scopes: ['admin', 'execute', 'read', 'mcp'] },
      });
    }
  });

  it('must be brought whole', async () => {
    const operatorToken = mintToken().text;
    const { gate } = await open([], { operatorToken });
    for (const part of [operatorToken.split('_')[2] ?? '', operatorToken.slice(0, -1), `${operatorToken}x`])
      expect([part, verdict(gate, part)]).toEqual([part, 'TOKEN_REQUIRED']);
  });
});

describe('too many failures', () => {
  const repeat = async (times: number, work: () => string): Promise<readonly string[]> => {
    const verdicts: string[] = [];
    for (let count = 0; count < times; count += 1) {
      verdicts.push(work());
      await Promise.resolve();
    }
    return verdicts;
  };
  const REFUSED = 'TOKEN_REQUIRED';
  const FLOOD = 'TOO_MANY_FAILURES';

  it('with one token shut out who uses it, the right one too, from that address alone', async () => {
    const ci = make('ci');
    const other = make('other');
    const { gate } = await open([ci, other], { mostFailures: 3 });
    expect(await repeat(5, () => verdict(gate, forged(ci)))).toEqual([
      REFUSED,
      REFUSED,
      REFUSED,
      FLOOD,
      FLOOD,
    ]);
    expect(verdict(gate, ci.text)).toBe(FLOOD);
    expect(verdict(gate, ci.text, '10.0.0.2')).toBe('ci');
    expect(verdict(gate, other.text)).toBe('other');
    expect(verdict(gate, mintToken().text)).toBe(REFUSED);
  });

  it('with tokens that nobody has shut out all such guesses from that address, and no holder of a token', async () => {
    const ci = make('ci');
    const { gate } = await open([ci], { mostFailures: 2 });
    expect(await repeat(4, () => verdict(gate, mintToken().text))).toEqual([REFUSED, REFUSED, FLOOD, FLOOD]);
    expect(verdict(gate, 'anything')).toBe(FLOOD);
    expect(verdict(gate, ci.text)).toBe('ci');
    expect(verdict(gate, 'anything', '10.0.0.2')).toBe(REFUSED);
  });

  it('with an operator’s token in the form of ours leave it alone; in another form it is a guess like others', async () => {
    for (const [operatorToken, expected] of [
      [mintToken().text, 'operator'],
      ['any text of 16+ letters', FLOOD],
    ] as const) {
      const { gate } = await open([], { operatorToken, mostFailures: 2 });
      await repeat(3, () => verdict(gate, 'a guess'));
      expect(verdict(gate, operatorToken)).toBe(expected);
    }
  });

  it('are told with the seconds to wait, and over after them', async () => {
    let monotonicMs = 0;
    const { gate } = await open([], { mostFailures: 1, monotonicMs: () => monotonicMs });
    await repeat(1, () => verdict(gate, 'a guess'));
    monotonicMs = 59_001;
    const told = gate.admit('Bearer a guess', HERE, NOW);
    expect(told).toEqual({ ok: false, error: { code: FLOOD, waitSeconds: 1 } });
    monotonicMs = 60_000;
    expect(verdict(gate, 'a guess')).toBe(REFUSED);
  });

  it('are not made by who brings no token, or a password', async () => {
    const { gate } = await open([], { mostFailures: 1 });
    await repeat(3, () => String(gate.admit(undefined, HERE, NOW).ok));
    await repeat(3, () => String(gate.admit('Basic YTpi', HERE, NOW).ok));
    expect(verdict(gate, 'a guess')).toBe(REFUSED);
  });
});

describe('another address than loopback', () => {
  const isFit = async (...given: Parameters<typeof open>): Promise<boolean> =>
    (await open(...given)).gate.isFitForNetwork(NOW);

  it('needs a token that holds and allows MCP, or an operator’s of 16 characters', async () => {
    expect(await isFit([])).toBe(false);
    expect(await isFit([make('ci')])).toBe(true);
    expect(await isFit([make('ci', { scopes: ['admin'] })])).toBe(true);
    expect(await isFit([make('ci', { scopes: ['read'] })])).toBe(false);
    expect(await isFit([make('ci', { expiresMs: NOW })])).toBe(false);
    expect(await isFit([make('ci', { revokedMs: NOW })])).toBe(false);
    expect(await isFit([], { operatorToken: 'x'.repeat(16) })).toBe(true);
  });

  it('is never given to an operator’s token that can be guessed, whatever other tokens there are', async () => {
    expect(await isFit([make('ci')], { operatorToken: 'x'.repeat(15) })).toBe(false);
  });
});

it('a closed gate listens to its store no more', async () => {
  const { gate, store } = await open([]);
  expect(store.listeners).toBe(1);
  gate.close();
  expect(store.listeners).toBe(0);
});

it('a process of the same user comes in by a token that is in no store, and opens no network with it', async () => {
  const { gate } = await open([]);
  expect(verdict(gate, OWN.text)).toBe('local');
  expect(gate.isFitForNetwork(NOW)).toBe(false);
});
