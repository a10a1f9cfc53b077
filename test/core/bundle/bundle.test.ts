import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toBundleJson, type BundleJson } from '../../../src/core/bundle/bundle-json.ts';
import { listBundleItems } from '../../../src/core/bundle/bundle-items.ts';
import { planImport } from '../../../src/core/bundle/bundle-plan.ts';
import type { Bundle } from '../../../src/core/bundle/bundle.ts';
import {
  computeSecretPlace,
  splitEntrySecrets,
  restoreEntrySecrets,
} from '../../../src/core/bundle/entry-secrets.ts';
import { readBundle } from '../../../src/core/bundle/read-bundle.ts';
import { arbitraryBundle } from './arbitrary-bundle.ts';

const AT = { exportedMs: 1_790_000_000_123 };
const EMPTY: Bundle = {
  gateways: [],
  tools: [],
  functions: [],
  trust: [],
  overrides: [],
  toolsets: [],
  equipped: undefined,
  preferences: new Map(),
  policyRules: [],
};
const DISABLED = { identity: '', overrides: {}, isDisabled: true } as const;
/** Two names that are equal when joined with U+0000. */
const SAME_WHEN_JOINED: Bundle = {
  ...EMPTY,
  overrides: [
    { ...DISABLED, server: '\0', name: '' },
    { ...DISABLED, server: '', name: '\0' },
  ],
};
const GATEWAY = {
  name: 'far',
  entry: { url: 'https://a.example' },
  createdAt: '2026-11-22T09:30:00.000Z',
  createdBy: 'me',
};

function read(value: unknown): Bundle {
  const done = readBundle(value);
  if (!done.ok) throw new Error(JSON.stringify(done.error));
  return done.value;
}

/** The JSON after a round trip through a file. */
function reparsed(json: BundleJson): unknown {
  return JSON.parse(JSON.stringify(json));
}

describe('a bundle', () => {
  it('survives a round trip through its serialized form, whatever the state', () => {
    fc.assert(
      fc.property(arbitraryBundle, (bundle) => {
        const json = toBundleJson(bundle, AT);
        const back = read(reparsed(json));
        expect(JSON.stringify(toBundleJson(back, AT))).toBe(JSON.stringify(json));
        expect(planImport(back, bundle, 'replace').filter(({ action }) => action !== 'unchanged')).toEqual(
          [],
        );
      }),
      { numRuns: 300 },
    );
  });

  it('has the same bytes whatever the order of its parts', () => {
    fc.assert(
      fc.property(arbitraryBundle, (bundle) => {
        const reversed: Bundle = {
          ...bundle,
          gateways: bundle.gateways.toReversed(),
          tools: bundle.tools.toReversed(),
          trust: bundle.trust.toReversed(),
          overrides: bundle.overrides.toReversed(),
          toolsets: bundle.toolsets.toReversed(),
          preferences: new Map([...bundle.preferences].toReversed()),
        };
        expect(JSON.stringify(toBundleJson(reversed, AT))).toBe(JSON.stringify(toBundleJson(bundle, AT)));
      }),
      { examples: [[SAME_WHEN_JOINED]] },
    );
  });

  it('creates each item once in an empty instance, and changes nothing if imported again', () => {
    fc.assert(
      fc.property(arbitraryBundle, (bundle) => {
        const first = planImport(bundle, EMPTY, 'keep').map(({ action }) => action);
        expect(first).toEqual(listBundleItems(bundle).map(() => 'create'));
        const second = planImport(bundle, bundle, 'replace').map(({ action }) => action);
        expect(second).toEqual(first.map(() => 'unchanged'));
      }),
    );
  });

  it('is read, or refused with the positions of its faults, wherever it is damaged, and never throws', () => {
    const damage = fc.anything({ withNullPrototype: false, maxDepth: 2 });
    fc.assert(
      fc.property(arbitraryBundle, fc.nat(), damage, (bundle, place, value) => {
        const damaged: unknown = reparsed(toBundleJson(bundle, AT));
        replaceAt(damaged, place, value);
        const done = readBundle(damaged);
        if (done.ok) return;
        expect(done.error.length).toBeGreaterThan(0);
        for (const { at, reason } of done.error)
          expect([at, reason]).toEqual([
            expect.stringMatching(/^(?:\/|$)/),
            expect.stringMatching(/^[a-z"]/),
          ]);
      }),
      { numRuns: 1_000 },
    );
    for (const value of [null, undefined, 5, 'text', [], [1], {}, { assay: 2 }, { assay: '1' }])
      expect([value, readBundle(value).ok]).toEqual([value, false]);
  });

  it('is refused before it is traversed if nested too deeply', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(readBundle({ assay: 1, gateways: [{ ...GATEWAY, entry: { deep } }] })).toEqual({
      ok: false,
      error: [{ at: '', kind: 'invalid', reason: 'it is nested more than 80 deep' }],
    });
  });

  const REFUSED: readonly (readonly [what: string, members: unknown, at: string, reason: string])[] = [
    ['a newer version', { assay: 2 }, '/assay', 'this Assay reads only version 1'],
    ['an unknown member', { extra: 1 }, '/extra', 'there is no such member'],
    ['a duplicate name', { gateways: [GATEWAY, GATEWAY] }, '/gateways/1', 'it occurs twice'],
    [
      'a member both present and withheld',
      { gateways: [{ ...GATEWAY, withheld: ['url'] }] },
      '/gateways/0/entry/url',
      'it is listed as withheld too',
    ],
    [
      'an equipped toolset that it does not contain',
      { equipped: 'gone' },
      '/equipped',
      'no toolset of the bundle',
    ],
    [
      'an override without effect',
      { overrides: [{ server: 'a', identity: 'b', name: 'c' }] },
      '/overrides/0',
      'it has no effect on its tool',
    ],
    [
      'an unknown hint',
      { overrides: [{ server: 'a', identity: 'b', name: 'c', hints: { safeHint: {} } }] },
      '/overrides/0/hints/safeHint',
      'there is no such member',
    ],
    [
      'a list instead of one choice',
      { preferences: { 'notes.review': ['never'] } },
      '/preferences/notes.review',
      'it must be a text',
    ],
    [
      'a seal that needs a gigabyte of memory',
      { sealed: sealed({ N: 2 ** 20, r: 8 }) },
      '/sealed/N',
      'with this r it needs more than 128 MiB',
    ],
    [
      'a seal whose cost is not a power of two',
      { sealed: sealed({ N: 20_000 }) },
      '/sealed/N',
      'it must be a power of two',
    ],
    [
      'a seal that takes an hour to open',
      { sealed: sealed({ p: 1_000_000 }) },
      '/sealed/p',
      'it must be a whole number',
    ],
    ['a seal with an empty salt', { sealed: sealed({ salt: '' }) }, '/sealed/salt', 'it has 0 bytes'],
  ];

  it.each(REFUSED)('with %s is refused, and the error gives its position', (_, members, at, reason) => {
    const done = readBundle({ assay: 1, ...(members as object) });
    expect(done.ok ? [] : done.error).toEqual([
      { at, kind: 'invalid', reason: expect.stringContaining(reason) as unknown },
    ]);
  });
});

function sealed(more: object): object {
  const bytes = (count: number): string => Buffer.alloc(count).toString('base64');
  return {
    kdf: 'scrypt',
    N: 2 ** 15,
    r: 8,
    p: 3,
    salt: bytes(16),
    nonce: bytes(12),
    data: bytes(32),
    ...more,
  };
}

describe("an entry's secrets", () => {
  const entry = { url: 'https://a.example/mcp', headers: { Authorization: 'x' }, timeoutMs: 5 };
  const bundled = { name: 'far', entry, withheld: [], createdMs: 0, author: 'me' };
  const { open, secrets } = splitEntrySecrets('gateway', bundled, new Set(['headers', 'env']));

  it('are removed as whole members, and can be restored', () => {
    expect(open).toEqual({ ...bundled, entry: { url: entry.url, timeoutMs: 5 }, withheld: ['headers'] });
    expect(secrets).toEqual({
      kind: 'gateway',
      name: 'far',
      place: computeSecretPlace(entry),
      members: { headers: entry.headers },
    });
    expect(secrets && restoreEntrySecrets(open, secrets)).toEqual({
      kind: 'refilled',
      entry: bundled,
      missing: [],
    });
  });

  it('are restored on another path of the same origin, and nowhere else', () => {
    const kindAt = (url: string): unknown =>
      secrets && restoreEntrySecrets({ ...open, entry: { url } }, secrets).kind;
    expect(kindAt('https://a.example/other?x=1')).toBe('refilled');
    for (const url of ['https://b.example/mcp', 'http://a.example/mcp', 'https://a.example:8443/', 'nowhere'])
      expect([url, kindAt(url)]).toEqual([url, 'elsewhere']);
    const command = {
      name: 'c',
      entry: { command: 'node', args: ['a.js'], env: { A: 'b' } },
      withheld: [],
      createdMs: 0,
      author: '',
    };
    const split = splitEntrySecrets('gateway', command, new Set(['env']));
    const other = { ...split.open, entry: { command: 'node', args: ['b.js'] } };
    expect(split.secrets && restoreEntrySecrets(other, split.secrets)).toEqual({ kind: 'elsewhere' });
  });
});

/** Replaces the value at the given position in traversal order. */
function replaceAt(root: unknown, place: number, value: unknown): void {
  const holders: (readonly [Record<string, unknown>, string])[] = [];
  const walk = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return;
    for (const [key, member] of Object.entries(one)) {
      holders.push([one as Record<string, unknown>, key]);
      walk(member);
    }
  };
  walk(root);
  const [holder, key] = holders[place % holders.length] ?? [{}, ''];
  holder[key] = value;
}
