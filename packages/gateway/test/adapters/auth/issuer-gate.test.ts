import { describe, expect, it } from 'vitest';
import { IssuerGate } from '../../../src/adapters/auth/issuer-gate.ts';
import type { JwtVerdict } from '../../../src/adapters/auth/jwt-check.ts';
import { mintToken } from '../../../src/adapters/auth/mint-token.ts';
import { TokenGate } from '../../../src/adapters/auth/token-gate.ts';
import type { Scope } from '../../../src/core/subject.ts';
import { MemoryTokens } from '../../../../../test/support/memory-store.ts';

const NOW = 1_800_000_000_000;
const HERE = '10.0.0.7';
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

interface Setting {
  readonly gate: IssuerGate;
  readonly clock: { monotonicMs: number };
  /** The texts that were checked. */
  readonly checked: readonly string[];
}

/** A gate whose tokens describe themselves: `granted.SUBJECT.SCOPE`. */
async function open(operatorToken?: string, lastsMs = 3_600_000): Promise<Setting> {
  const checked: string[] = [];
  const store = new MemoryTokens();
  const own = await TokenGate.open({ store, operatorToken, ownToken: mintToken(), maxFailures: 3, log });
  const check = (text: string, nowMs: number): Promise<JwtVerdict> => {
    checked.push(text);
    return Promise.resolve(verdictIn(text, NOW + lastsMs, nowMs));
  };
  const issuer = 'https://id.example';
  const clock = { monotonicMs: 0 };
  const monotonicMs = (): number => clock.monotonicMs;
  const gate = new IssuerGate({ issuer, check, own, operatorToken, maxFailures: 3, monotonicMs, log });
  return { gate, checked, clock };
}

function verdictIn(text: string, expiresMs: number, nowMs: number): JwtVerdict {
  const [kind, subject = '', scope = ''] = text.split('.');
  if (kind === 'unknown') return { kind, cause: 'is away' };
  if (kind !== 'granted' || expiresMs <= nowMs)
    return { kind: 'refused', reason: 'it is bad', isSigned: kind === 'signed' };
  const scopes = scope === '' ? [] : [scope as Scope];
  return { kind, grant: { identity: { subject, scopes, within: ['/mcp'] }, expiresMs } };
}

/** The subject, or the refusal; `later:` if the answer was asynchronous. */
async function verdict({ gate }: Setting, token: string, nowMs = NOW): Promise<string> {
  const given = gate.admit(`Bearer ${token}`, HERE, nowMs);
  const admitted = await given;
  const what = admitted.ok ? admitted.value.subject : admitted.error.code;
  return given instanceof Promise ? `later: ${what}` : what;
}

describe('a token of an issuer', () => {
  it('is verified once, and accepted from the cache afterwards', async () => {
    const setting = await open();
    expect(await verdict(setting, 'granted.ada.mcp')).toBe('later: ada');
    expect(await verdict(setting, 'granted.ada.mcp')).toBe('ada');
    expect(await verdict(setting, 'granted.ada.mcp', NOW + 119_999)).toBe('ada');
    expect(setting.checked).toEqual(['granted.ada.mcp']);
  });

  it('is verified again after two minutes and after its expiry', async () => {
    const setting = await open();
    await verdict(setting, 'granted.ada.mcp');
    expect(await verdict(setting, 'granted.ada.mcp', NOW + 120_000)).toBe('later: ada');
    const short = await open(undefined, 1_000);
    await verdict(short, 'granted.ada.mcp');
    expect(await verdict(short, 'granted.ada.mcp', NOW + 999)).toBe('ada');
    expect(await verdict(short, 'granted.ada.mcp', NOW + 1_000)).toBe('later: TOKEN_REQUIRED');
  });

  it('is verified once if it arrives many times concurrently', async () => {
    const setting = await open();
    const all = await Promise.all([1, 2, 3].map(() => verdict(setting, 'granted.ada.mcp')));
    expect(all).toEqual(['later: ada', 'later: ada', 'later: ada']);
    expect(setting.checked).toHaveLength(1);
  });

  it('is neither counted as a failure nor cached if it cannot be verified at the moment', async () => {
    const setting = await open();
    for (let count = 0; count < 5; count += 1)
      expect(await verdict(setting, 'unknown.x.y')).toBe('later: ISSUER_UNAVAILABLE');
    expect(setting.checked).toHaveLength(5);
  });

  it('is checked however many forged ones came from the same address', async () => {
    const setting = await open();
    for (let count = 0; count < 50; count += 1)
      expect(await verdict(setting, `x.${count}.y`)).toBe('later: TOKEN_REQUIRED');
    expect(await verdict(setting, 'granted.ben.mcp')).toBe('later: ben');
  });

  it('that is validly signed but not acceptable locks out only itself', async () => {
    const setting = await open();
    for (let count = 0; count < 3; count += 1)
      expect(await verdict(setting, 'signed.x.y')).toBe('later: TOKEN_REQUIRED');
    expect(await verdict(setting, 'signed.x.y')).toBe('TOO_MANY_FAILURES');
    expect(await verdict(setting, 'granted.ben.mcp')).toBe('later: ben');
  });
});

describe('a token holder', () => {
  it('is recognized while any of its known tokens is valid, with the scopes of those tokens', async () => {
    const { gate, ...rest } = await open();
    const holds = (scope: Scope, nowMs = NOW): boolean => gate.isHolder({ subject: 'ada' }, scope, nowMs);
    expect(holds('mcp')).toBe(false);
    await verdict({ gate, ...rest }, 'granted.ada.mcp');
    expect([holds('mcp'), holds('read'), holds('admin')]).toEqual([true, false, false]);
    await verdict({ gate, ...rest }, 'granted.ada.admin');
    expect([holds('read'), holds('admin'), holds('execute')]).toEqual([true, true, false]);
    expect([holds('mcp', NOW + 3_599_999), holds('mcp', NOW + 3_600_000)]).toEqual([true, false]);
  });

  it("is someone else if identified by Assay's own tokens", async () => {
    const { gate } = await open();
    expect(['local', 'nobody'].map((subject) => gate.isHolder({ subject }, 'mcp', NOW))).toEqual([
      true,
      false,
    ]);
  });
});

describe('a credential that the issuer did not issue', () => {
  it('is checked as before, including an ASSAY_TOKEN that looks like a JWT', async () => {
    const setting = await open('granted.operator.token');
    expect(await verdict(setting, 'granted.operator.token')).toBe('operator');
    expect(await verdict(setting, mintToken().text)).toBe('later: TOKEN_REQUIRED');
    expect(await verdict(setting, 'x')).toBe('TOKEN_REQUIRED');
    expect(setting.checked).toEqual([]);
  });

  it('makes the network safe or unsafe only through ASSAY_TOKEN, which can be guessed', async () => {
    expect((await open()).gate.isFitForNetwork(NOW)).toBe(true);
    expect((await open('short')).gate.isFitForNetwork(NOW)).toBe(false);
    expect((await open('x'.repeat(16))).gate.isFitForNetwork(NOW)).toBe(true);
  });
});
