import { afterEach, describe, expect, it } from 'vitest';
import { mintToken } from '../../../src/adapters/auth/mint-token.ts';
import { TokenGate, type TokenGateOptions } from '../../../src/adapters/auth/token-gate.ts';
import type { Scope } from '../../../src/core/subject.ts';
import type { Log } from '../../../src/gateway/ports/log.ts';
import type { StoredToken } from '../../../src/gateway/ports/store.ts';
import { MemoryTokens } from '../../../../../test/support/memory-store.ts';
import { sleep, until } from '../../../../../test/support/endings.ts';

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
  more: Partial<Pick<TokenGateOptions, 'operatorToken' | 'maxFailures' | 'monotonicMs'>> = {},
): Promise<{ readonly gate: TokenGate; readonly store: MemoryTokens; readonly logged: string[] }> {
  const store = new MemoryTokens();
  for (const { kept } of tokens) await store.addToken(kept);
  const logged: string[] = [];
  const write = (message: string): void => void logged.push(message);
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const own = { ownToken: OWN, operatorToken: undefined };
  const gate = await TokenGate.open({ store, ...own, maxFailures: 20, log, ...more });
  gates.push(gate);
  return { gate, store, logged };
}

/** The subject that is let in, or the code of the refusal. */
async function verdict(gate: TokenGate, token: string, from = HERE, nowMs = NOW): Promise<string> {
  const admitted = await gate.admit(`Bearer ${token}`, from, nowMs);
  return admitted.ok ? admitted.value.subject : admitted.error.code;
}

/** With another secret behind the same id. */
function forged({ kept }: Made): string {
  return mintToken().text.replace(/[0-9a-f]{12}/, kept.id);
}

describe('a token', () => {
  it('authenticates its holder by name, with its scopes', async () => {
    const ci = make('ci', { scopes: ['read', 'mcp'] });
    const { gate } = await open([make('other'), ci]);
    expect(gate.admit(`Bearer ${ci.text}`, HERE, NOW)).toEqual({
      ok: true,
      value: { subject: 'ci', scopes: ['read', 'mcp'], tokenId: ci.kept.id },
    });
  });

  it('is refused if its id is unknown, its secret is wrong, or nothing resembling a token was sent', async () => {
    const ci = make('ci');
    const { gate } = await open([ci]);
    const secret = ci.text.split('_')[2] ?? '';
    for (const token of [mintToken().text, forged(ci), ci.text.slice(0, -1), secret, ci.kept.hash])
      expect([token, await verdict(gate, token)]).toEqual([token, 'TOKEN_REQUIRED']);
    for (const header of [undefined, '', 'Bearer', ci.text, `Basic ${ci.text}`])
      expect(gate.admit(header, HERE, NOW)).toEqual({ ok: false, error: { code: 'TOKEN_REQUIRED' } });
  });

  it('is refused once it is revoked, and from its expiry on', async () => {
    const expiring = make('expiring', { expiresMs: NOW + 1_000 });
    const revoked = make('revoked', { revokedMs: NOW - 1 });
    const { gate } = await open([expiring, revoked]);
    expect(await verdict(gate, expiring.text, HERE, NOW + 999)).toBe('expiring');
    expect(await verdict(gate, expiring.text, HERE, NOW + 1_000)).toBe('TOKEN_REQUIRED');
    expect(await verdict(gate, revoked.text)).toBe('TOKEN_REQUIRED');
  });

  it('is refused if its stored hash is damaged, which affects no other token', async () => {
    const damaged = make('damaged', { hash: 'beef' });
    const ci = make('ci');
    const { gate } = await open([damaged, ci]);
    expect(await verdict(gate, damaged.text)).toBe('TOKEN_REQUIRED');
    expect(await verdict(gate, ci.text)).toBe('ci');
  });

  it('takes effect, or ends, as soon as the store announces a change by another process', async () => {
    const { gate, store } = await open([]);
    const ci = make('ci');
    expect(await verdict(gate, ci.text)).toBe('TOKEN_REQUIRED');
    await store.addToken(ci.kept);
    await until('the new token holds', async () =>
      (await verdict(gate, ci.text)) === 'ci' ? true : undefined,
    );
    await store.revokeToken('ci', NOW);
    await until('it does not hold any more', async () =>
      (await verdict(gate, ci.text)) === 'TOKEN_REQUIRED' ? true : undefined,
    );
  });

  it('stays valid while the store cannot be read, which is logged once, and follows the store afterwards', async () => {
    const ci = make('ci');
    const { gate, store, logged } = await open([ci]);
    store.isAvailable = false;
    for (let count = 0; count < 3; count += 1) {
      store.announce(['tokens']);
      await sleep(5);
    }
    expect(await verdict(gate, ci.text)).toBe('ci');
    expect(logged).toEqual(['tokens cannot be read; those last read remain valid']);
    store.isAvailable = true;
    await until('the log says that all is well', () => logged[1]);
    expect(logged[1]).toBe('the tokens could be read again');
    expect(await verdict(gate, ci.text)).toBe('ci');
  });

  it('also expires while the store cannot be read', async () => {
    const ci = make('ci', { expiresMs: NOW + 1_000 });
    const { gate, store } = await open([ci]);
    store.isAvailable = false;
    store.announce(['tokens']);
    expect(await verdict(gate, ci.text, HERE, NOW + 1_000)).toBe('TOKEN_REQUIRED');
  });
});

/** A store that announces nothing, like one that another process has just written. */
class SilentTokens extends MemoryTokens {
  reads = 0;

  override tokens(): ReturnType<MemoryTokens['tokens']> {
    this.reads += 1;
    return super.tokens();
  }

  override onChange(): () => void {
    return () => undefined;
  }
}

async function openSilent(maxFailures: number): Promise<{ gate: TokenGate; store: SilentTokens }> {
  const store = new SilentTokens();
  const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
  const gate = await TokenGate.open({ store, ownToken: OWN, operatorToken: undefined, maxFailures, log });
  gates.push(gate);
  return { gate, store };
}

describe('a token not yet seen in the store', () => {
  it('is looked up before it is refused', async () => {
    const { gate, store } = await openSilent(20);
    const ci = make('ci');
    await store.addToken(ci.kept);
    expect(await verdict(gate, ci.text)).toBe('ci');
  });

  it('costs few lookups, however many invalid tokens arrive from however many addresses', async () => {
    const { gate, store } = await openSilent(1_000_000);
    const before = store.reads;
    const guesses = Array.from({ length: 2_000 }, (_, index) =>
      verdict(gate, mintToken().text, `10.0.${index >> 8}.${index & 255}`),
    );
    expect(new Set(await Promise.all(guesses))).toEqual(new Set(['TOKEN_REQUIRED']));
    expect(store.reads - before).toBeLessThanOrEqual(2);
    const startMs = performance.now();
    for (let time = 0; time < 3; time += 1) await verdict(gate, mintToken().text);
    expect(performance.now() - startMs).toBeGreaterThan(150);
  });

  it('is not looked up for a client that sent too many invalid ones', async () => {
    const { gate, store } = await openSilent(1);
    await verdict(gate, mintToken().text);
    await until('it is shut out', async () =>
      (await verdict(gate, mintToken().text)) === 'TOO_MANY_FAILURES' ? true : undefined,
    );
    const before = store.reads;
    await verdict(gate, mintToken().text);
    expect(store.reads).toBe(before);
  });

  it('is refused if the store cannot be read', async () => {
    const { gate, store } = await openSilent(20);
    store.isAvailable = false;
    expect(await verdict(gate, make('ci').text)).toBe('TOKEN_REQUIRED');
  });
});

describe('a token holder', () => {
  it('is identified by its own token, and by no other token of the same name', async () => {
    const [leaked, renewed] = [make('ci'), make('ci')];
    const { gate, store } = await open([leaked]);
    const holds = ({ kept }: Made): boolean => gate.isHolder({ subject: 'ci', tokenId: kept.id }, 'mcp', NOW);
    expect([holds(leaked), holds(renewed)]).toEqual([true, false]);
    await store.revokeToken('ci', NOW);
    await store.addToken(renewed.kept);
    await gate.refresh();
    expect([holds(leaked), holds(renewed)]).toEqual([false, true]);
  });

  it('is notified of every relevant change of tokens', async () => {
    const ci = make('ci');
    const { gate, store } = await open([ci]);
    let heard = 0;
    const stop = gate.onTokens(() => {
      heard += gate.isHolder({ subject: 'ci', tokenId: ci.kept.id }, 'mcp', NOW) ? 0 : 1;
    });
    await store.revokeToken('ci', NOW);
    await gate.refresh();
    expect(heard).toBeGreaterThan(0);
    stop();
  });
});

describe('the operator’s token', () => {
  it('allows everything, whatever its format, and is not in the store', async () => {
    for (const operatorToken of ['any text of 16+ letters', mintToken().text]) {
      const { gate } = await open([make('ci')], { operatorToken });
      expect(gate.admit(`Bearer ${operatorToken}`, HERE, NOW)).toEqual({
        ok: true,
        value: { subject: 'operator', scopes: ['admin', 'execute', 'read', 'mcp'] },
      });
    }
  });

  it('must match completely', async () => {
    const operatorToken = mintToken().text;
    const { gate } = await open([], { operatorToken });
    for (const part of [operatorToken.split('_')[2] ?? '', operatorToken.slice(0, -1), `${operatorToken}x`])
      expect([part, await verdict(gate, part)]).toEqual([part, 'TOKEN_REQUIRED']);
  });
});

describe('too many failures', () => {
  const repeat = async (times: number, work: () => string | Promise<string>): Promise<readonly string[]> => {
    const verdicts: string[] = [];
    for (let count = 0; count < times; count += 1) {
      verdicts.push(await work());
      await Promise.resolve();
    }
    return verdicts;
  };
  const REFUSED = 'TOKEN_REQUIRED';
  const FLOOD = 'TOO_MANY_FAILURES';

  it('with one token lock out its user, even with the right token, from that address only', async () => {
    const ci = make('ci');
    const other = make('other');
    const { gate } = await open([ci, other], { maxFailures: 3 });
    expect(await repeat(5, () => verdict(gate, forged(ci)))).toEqual([
      REFUSED,
      REFUSED,
      REFUSED,
      FLOOD,
      FLOOD,
    ]);
    expect(await verdict(gate, ci.text)).toBe(FLOOD);
    expect(await verdict(gate, ci.text, '10.0.0.2')).toBe('ci');
    expect(await verdict(gate, other.text)).toBe('other');
    expect(await verdict(gate, mintToken().text)).toBe(REFUSED);
  });

  it('with nonexistent tokens lock out all such guesses from that address, but no holder of a valid token', async () => {
    const ci = make('ci');
    const { gate } = await open([ci], { maxFailures: 2 });
    expect(await repeat(4, () => verdict(gate, mintToken().text))).toEqual([REFUSED, REFUSED, FLOOD, FLOOD]);
    expect(await verdict(gate, 'anything')).toBe(FLOOD);
    expect(await verdict(gate, ci.text)).toBe('ci');
    expect(await verdict(gate, 'anything', '10.0.0.2')).toBe(REFUSED);
  });

  it("with an operator's token in Assay's format do not lock it out; in another format they count like other guesses", async () => {
    for (const [operatorToken, expected] of [
      [mintToken().text, 'operator'],
      ['any text of 16+ letters', FLOOD],
    ] as const) {
      const { gate } = await open([], { operatorToken, maxFailures: 2 });
      await repeat(3, () => verdict(gate, 'a guess'));
      expect(await verdict(gate, operatorToken)).toBe(expected);
    }
  });

  it('are reported with the number of seconds to wait, and end after them', async () => {
    let monotonicMs = 0;
    const { gate } = await open([], { maxFailures: 1, monotonicMs: () => monotonicMs });
    await repeat(1, () => verdict(gate, 'a guess'));
    monotonicMs = 59_001;
    const told = gate.admit('Bearer a guess', HERE, NOW);
    expect(told).toEqual({ ok: false, error: { code: FLOOD, waitSeconds: 1 } });
    monotonicMs = 60_000;
    expect(await verdict(gate, 'a guess')).toBe(REFUSED);
  });

  it('are not caused by requests without a token, or with a password', async () => {
    const { gate } = await open([], { maxFailures: 1 });
    await repeat(3, async () => String((await gate.admit(undefined, HERE, NOW)).ok));
    await repeat(3, async () => String((await gate.admit('Basic YTpi', HERE, NOW)).ok));
    expect(await verdict(gate, 'a guess')).toBe(REFUSED);
  });
});

describe('an address other than loopback', () => {
  const isFit = async (...given: Parameters<typeof open>): Promise<boolean> =>
    (await open(...given)).gate.isFitForNetwork(NOW);

  it("requires a valid token that allows MCP, or an operator's token of at least 16 characters", async () => {
    expect(await isFit([])).toBe(false);
    expect(await isFit([make('ci')])).toBe(true);
    expect(await isFit([make('ci', { scopes: ['admin'] })])).toBe(true);
    expect(await isFit([make('ci', { scopes: ['read'] })])).toBe(false);
    expect(await isFit([make('ci', { expiresMs: NOW })])).toBe(false);
    expect(await isFit([make('ci', { revokedMs: NOW })])).toBe(false);
    expect(await isFit([], { operatorToken: 'x'.repeat(16) })).toBe(true);
  });

  it("is never opened for a guessable operator's token, whatever other tokens exist", async () => {
    expect(await isFit([make('ci')], { operatorToken: 'x'.repeat(15) })).toBe(false);
  });
});

it('a closed gate no longer follows its store', async () => {
  const { gate, store } = await open([]);
  expect(store.listeners).toBe(1);
  gate.close();
  expect(store.listeners).toBe(0);
});

it('a process of the same user authenticates with a token that is in no store and opens no network', async () => {
  const { gate } = await open([]);
  expect(await verdict(gate, OWN.text)).toBe('local');
  expect(gate.isFitForNetwork(NOW)).toBe(false);
});
