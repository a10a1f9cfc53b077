import { describe, expect, it } from 'vitest';
import { allows, SCOPES } from '../../src/core/subject.ts';
import {
  parseBearer,
  parseLifetimeMs,
  looksLikeToken,
  parseToken,
  parseScopes,
  findTokenNameFault,
  getTokenState,
  formatToken,
} from '../../src/core/token.ts';

const ID = '0123456789ab';
const SECRET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456';

describe('a token', () => {
  it('consists of assay_, an id and a secret', () => {
    expect(formatToken({ id: ID, secret: SECRET })).toBe(`assay_${ID}_${SECRET}`);
    expect(parseToken(`assay_${ID}_${SECRET}`)).toEqual({ id: ID, secret: SECRET });
    for (const text of [
      '',
      'assay_',
      `assay_${ID}`,
      `assay_${ID}_`,
      `assay_${ID}_${SECRET.slice(1)}`,
      `assay_${ID}_${SECRET}x`,
      `assay_${ID}_${SECRET}\n`,
      ` assay_${ID}_${SECRET}`,
      `ASSAY_${ID}_${SECRET}`,
      `assay_${ID.toUpperCase()}_${SECRET}`,
      `assay_${ID}_${SECRET.slice(1)}_`,
      `assay_${ID}_${SECRET.slice(1)}-`,
      `assay-${ID}-${SECRET}`,
      `${ID}_${SECRET}`,
    ])
      expect([text, parseToken(text)]).toEqual([text, undefined]);
  });

  it('is recognized by its prefix even if part of it is missing', () => {
    expect(['assay_x', 'assay_', 'assay', 'ghp_x', 'xassay_'].map(looksLikeToken)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('is read after Bearer, in any case, and after nothing else', () => {
    for (const header of ['Bearer x', 'bearer x', 'BEARER   x']) expect(parseBearer(header)).toBe('x');
    for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Basic x', 'x', ' Bearer x', 'Bearerx'])
      expect(parseBearer(header)).toBeUndefined();
  });

  it('is valid until it expires or is revoked', () => {
    const state = (expiresMs: number | undefined, revokedMs: number | undefined): string =>
      getTokenState({ expiresMs, revokedMs }, 1_000);
    expect(state(undefined, undefined)).toBe('valid');
    expect(state(1_001, undefined)).toBe('valid');
    expect(state(1_000, undefined)).toBe('expired');
    expect(state(999, undefined)).toBe('expired');
    expect(state(1_001, 0)).toBe('revoked');
    expect(state(999, 0)).toBe('revoked');
  });
});

describe('a scope', () => {
  it('is granted by itself; admin grants read and mcp too, and nothing else grants execute', () => {
    const allowed = SCOPES.map((own) =>
      SCOPES.filter((scope) => allows({ subject: 's', scopes: [own] }, scope)).join(' '),
    );
    expect(allowed).toEqual(['admin read mcp', 'execute', 'read', 'mcp']);
    expect(SCOPES.some((scope) => allows({ subject: 's', scopes: [] }, scope))).toBe(false);
  });

  it('may be listed in any order, and more than once', () => {
    expect(parseScopes('mcp')).toEqual({ ok: true, value: ['mcp'] });
    expect(parseScopes('mcp, read,mcp')).toEqual({ ok: true, value: ['read', 'mcp'] });
    expect(parseScopes('admin,execute')).toEqual({ ok: true, value: ['admin', 'execute'] });
  });

  it('is named in the error if unknown, with the known ones', () => {
    for (const [text, wrong] of [
      ['write', 'write'],
      ['mcp,Read', 'Read'],
      ['', ''],
      ['mcp,', ''],
      ['mcp read', 'mcp read'],
    ] as const)
      expect(parseScopes(text)).toEqual({
        ok: false,
        error: `there is no scope "${wrong}"; there are admin, execute, read, mcp`,
      });
  });
});

describe('the name of a token', () => {
  it('is a name like any other', () => {
    for (const name of ['ci', 'Ada laptop', 'x'.repeat(64), 'build-7', 'locally', 'ada@example.com'])
      expect([name, findTokenNameFault(name)]).toEqual([name, undefined]);
    expect(findTokenNameFault('l\u043ecal')).toMatch(/U\+043E/);
  });

  it('reads like nobody else, and does not look like a token', () => {
    for (const [name, fault] of [
      ['local', /ASSAY_TOKEN/],
      ['Operator', /ASSAY_TOKEN/],
      ['l0cal', /ASSAY_TOKEN/],
      ['1ocaI', /ASSAY_TOKEN/],
      ['https:', /URL/],
      [ID, /look like/],
      [`assay_${ID}_x`, /look like/],
    ] as const)
      expect([name, findTokenNameFault(name)]).toEqual([name, expect.stringMatching(fault)]);
  });
});

describe('the lifetime of a token', () => {
  it('is a number of minutes, hours, days or weeks', () => {
    const minute = 60_000;
    for (const [text, value] of [
      ['90m', 90 * minute],
      ['12h', 720 * minute],
      ['30d', 43_200 * minute],
      ['4w', 40_320 * minute],
    ] as const)
      expect(parseLifetimeMs(text)).toEqual({ ok: true, value });
  });

  it('cannot be anything else', () => {
    for (const text of [
      '',
      '0d',
      '-1d',
      '1.5h',
      '30',
      'd',
      '30 d',
      '30D',
      '1y',
      '100000w',
      'tomorrow',
      '30d12h',
    ])
      expect(parseLifetimeMs(text)).toEqual({
        ok: false,
        error: `${JSON.stringify(text)} is not a duration; write 90m, 12h, 30d or 4w`,
      });
  });
});
