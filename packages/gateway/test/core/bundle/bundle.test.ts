import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BundleJson,
  type BundleRecord,
  type EntryBundleRecord,
  toBundleJson,
} from '../../../src/core/bundle/bundle.ts';
import { planImport } from '../../../src/core/bundle/bundle-plan.ts';
import {
  computeSecretPlace,
  splitEntrySecrets,
  restoreEntrySecrets,
} from '../../../src/core/bundle/entry-secrets.ts';
import { readBundle } from '../../../src/core/bundle/read-bundle.ts';
import { hashDefinition } from '@assay-mcp/kit/digest';
import { arbitraryRecords } from './arbitrary-bundle.ts';

const AT = { exportedMs: 1_790_000_000_123 };
const DISABLED = { identity: '', overrides: {}, isDisabled: true } as const;
/** Two names that are equal when joined with U+0000. */
const SAME_WHEN_JOINED: readonly BundleRecord[] = [
  { kind: 'tool', body: { ...DISABLED, server: '\0', name: '' } },
  { kind: 'tool', body: { ...DISABLED, server: '', name: '\0' } },
];
const GATEWAY = { name: 'far', entry: { url: 'https://a.example' }, createdMs: 0, author: 'me' };

function read(value: unknown): readonly BundleRecord[] {
  const done = readBundle(value, 0);
  if (!done.ok) throw new Error(JSON.stringify(done.error));
  return done.value.records;
}

/** The JSON after a round trip through a file. */
function reparsed(json: BundleJson): unknown {
  return JSON.parse(JSON.stringify(json));
}

describe('a bundle', () => {
  it('survives a round trip through its serialized form, whatever the state', () => {
    fc.assert(
      fc.property(arbitraryRecords, (records) => {
        const json = toBundleJson(records, AT);
        const back = read(reparsed(json));
        expect(JSON.stringify(toBundleJson(back, AT))).toBe(JSON.stringify(json));
        expect(planImport(back, records, 'replace').filter(({ action }) => action !== 'unchanged')).toEqual(
          [],
        );
      }),
      { numRuns: 300 },
    );
  });

  it('has the same bytes whatever the order of its parts', () => {
    fc.assert(
      fc.property(arbitraryRecords, (records) => {
        const reversed = records.toReversed().map(withMembersReversed) as BundleRecord[];
        expect(JSON.stringify(toBundleJson(reversed, AT))).toBe(JSON.stringify(toBundleJson(records, AT)));
      }),
      { examples: [[SAME_WHEN_JOINED]] },
    );
  });

  it('creates each item once in an empty instance, and changes nothing if imported again', () => {
    fc.assert(
      fc.property(arbitraryRecords, (records) => {
        const first = planImport(records, [], 'keep').map(({ action }) => action);
        expect(first).toEqual(records.map(() => 'create'));
        const second = planImport(records, records, 'replace').map(({ action }) => action);
        expect(second).toEqual(first.map(() => 'unchanged'));
      }),
    );
  });

  it('is read, or refused with the positions of its faults, wherever it is damaged, and never throws', () => {
    const damage = fc.anything({ withNullPrototype: false, maxDepth: 2 });
    fc.assert(
      fc.property(arbitraryRecords, fc.nat(), damage, (records, place, value) => {
        const damaged: unknown = reparsed(toBundleJson(records, AT));
        replaceAt(damaged, place, value);
        const done = readBundle(damaged, 0);
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
      expect([value, readBundle(value, 0).ok]).toEqual([value, false]);
  });

  it('is refused before it is traversed if nested too deeply', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(readBundle(bundleOf(['gateway', { ...GATEWAY, entry: { deep } }]), 0)).toEqual({
      ok: false,
      error: [{ at: '', kind: 'invalid', reason: 'it is nested more than 80 deep' }],
    });
  });

  const TOOL = { server: 'a', identity: 'b', name: 'c', overrides: {} };
  const TOOLSET = { name: 'mine', createdMs: 0, changedMs: 0, tools: [], toolNotes: [] };
  const digest = hashDefinition('{}');
  const pinned = (held: object): object => ({
    ...TOOLSET,
    tools: [{ namespacedName: 'a.b', held: { text: '{}', refId: '0'.repeat(32), digest, ...held } }],
  });
  const records = (...given: readonly (readonly [kind: string, body: unknown])[]): object => ({
    records: bundleOf(...given).records,
  });

  const REFUSED: readonly (readonly [what: string, members: unknown, at: string, reason: string])[] = [
    ['a newer version', { assay: 2, records: [] }, '/assay', 'this Assay reads only version 1'],
    [
      'the lists of an earlier build',
      { gateways: [GATEWAY], overrides: [] },
      '/records',
      'Bundles of earlier builds are not read',
    ],
    ['an unknown member', { ...records(), extra: 1 }, '/extra', 'there is no such member'],
    ['an unknown kind', records(['robot', {}]), '/records/0/kind', 'it must be one of gateway, '],
    [
      'a kind named as a member of Object.prototype',
      records(['__proto__', {}]),
      '/records/0/kind',
      'it must',
    ],
    [
      'a kind that is not exported',
      records(['token_preferences', {}]),
      '/records/0/kind',
      'it must be one of',
    ],
    [
      'a record of a newer version',
      { records: [{ kind: 'trust', version: 2, body: {} }] },
      '/records/0/version',
      'this Assay reads only version 1',
    ],
    [
      'the id of a record that has its key in its body',
      { records: [{ kind: 'gateway', version: 1, id: 'x', body: GATEWAY }] },
      '/records/0/id',
      'there is no such member',
    ],
    [
      'a duplicate name',
      records(['gateway', GATEWAY], ['gateway', GATEWAY]),
      '/records/1',
      'it occurs twice',
    ],
    [
      'a member both present and withheld',
      records(['gateway', { ...GATEWAY, withheld: ['url'] }]),
      '/records/0/body/entry/url',
      'it is listed as withheld too',
    ],
    [
      'an equipped toolset that it does not contain',
      records(['equipped', { toolset: 'gone' }]),
      '/records/0/body/toolset',
      'no toolset of the bundle',
    ],
    [
      'an override without effect',
      records(['tool', TOOL]),
      '/records/0/body',
      'it has no effect on its tool',
    ],
    [
      'an unknown hint',
      records(['tool', { ...TOOL, overrides: { safeHint: {} } }]),
      '/records/0/body/overrides/safeHint',
      'there is no such member',
    ],
    [
      'what another Assay observed',
      records(['tool', { ...TOOL, title: 'C', verification: {} }]),
      '/records/0/body/verification',
      'there is no such member',
    ],
    [
      'a time outside of the range of dates',
      records(['gateway', { ...GATEWAY, createdMs: 1e300 }]),
      '/records/0/body/createdMs',
      'it must be a time in ms since 1970',
    ],
    [
      'a definition that is not the one that was pinned',
      records(['toolset', pinned({ digest: '0'.repeat(64) })]),
      '/records/0/body/tools/0',
      'its refId and digest must be those of its definition',
    ],
    [
      'the refId of another tool',
      records(['toolset', pinned({})]),
      '/records/0/body/tools/0',
      'its refId and digest must be those of its definition',
    ],
    [
      'all tools of a server without the list of those removed',
      records(['toolset', { ...TOOLSET, tools: [{ namespacedName: 'a.*' }] }]),
      '/records/0/body/tools/0',
      'all tools of a server need "except"',
    ],
    [
      'a tool twice in a toolset',
      records(['toolset', { ...TOOLSET, tools: [{ namespacedName: 'a.b' }, { namespacedName: 'a.b' }] }]),
      '/records/0/body/tools',
      'two of its tools are called "a.b"',
    ],
    [
      'a list instead of one choice',
      { records: [{ kind: 'setting', version: 1, id: 'notes.review', body: ['never'] }] },
      '/records/0/body',
      'it must be a text',
    ],
    [
      'a setting named as a member of Object.prototype',
      { records: [{ kind: 'setting', version: 1, id: '__proto__', body: true }] },
      '/records/0/id',
      'there is no such setting',
    ],
    [
      'a seal that needs a gigabyte of memory',
      { records: [], sealed: sealed({ N: 2 ** 20, r: 8 }) },
      '/sealed/N',
      'with this r it needs more than 128 MiB',
    ],
    [
      'a seal whose cost is not a power of two',
      { records: [], sealed: sealed({ N: 20_000 }) },
      '/sealed/N',
      'it must be a power of two',
    ],
    [
      'a seal that takes an hour to open',
      { records: [], sealed: sealed({ p: 1_000_000 }) },
      '/sealed/p',
      'it must be a whole number',
    ],
    [
      'a seal with an empty salt',
      { records: [], sealed: sealed({ salt: '' }) },
      '/sealed/salt',
      'it has 0 bytes',
    ],
  ];

  it.each(REFUSED)('with %s is refused, and the error gives its position', (_, members, at, reason) => {
    const done = readBundle({ assay: 1, ...(members as object) }, 0);
    expect(done.ok ? [] : done.error).toEqual([
      { at, kind: 'invalid', reason: expect.stringContaining(reason) as unknown },
    ]);
  });
});

function bundleOf(...records: readonly (readonly [kind: string, body: unknown])[]): {
  readonly assay: 1;
  readonly records: readonly object[];
} {
  return { assay: 1, records: records.map(([kind, body]) => ({ kind, version: 1, body })) };
}

function withMembersReversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMembersReversed);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toReversed();
  return Object.fromEntries(members.map(([name, member]) => [name, withMembersReversed(member)]));
}

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
  const record: EntryBundleRecord = {
    kind: 'gateway',
    body: { name: 'far', entry, createdMs: 0, author: 'me' },
  };
  const { open, secrets } = splitEntrySecrets(record, new Set(['headers', 'env']));

  it('are removed as whole members, and can be restored', () => {
    const kept = { url: entry.url, timeoutMs: 5 };
    expect(open.body).toEqual({ ...record.body, entry: kept, withheld: ['headers'] });
    expect(secrets).toEqual({
      kind: 'gateway',
      name: 'far',
      place: computeSecretPlace(entry),
      members: { headers: entry.headers },
    });
    expect(secrets && restoreEntrySecrets(open.body, secrets)).toEqual(record.body);
  });

  it('are restored on another path of the same origin, and nowhere else', () => {
    const isRestored = (url: string): unknown =>
      secrets && restoreEntrySecrets({ ...open.body, entry: { url } }, secrets) !== 'elsewhere';
    expect(isRestored('https://a.example/other?x=1')).toBe(true);
    for (const url of ['https://b.example/mcp', 'http://a.example/mcp', 'https://a.example:8443/', 'nowhere'])
      expect([url, isRestored(url)]).toEqual([url, false]);
    const body = { name: 'c', createdMs: 0, author: '', entry: { command: 'node', args: ['a.js'], env: {} } };
    const split = splitEntrySecrets({ kind: 'gateway', body }, new Set(['env']));
    const other = { ...split.open.body, entry: { command: 'node', args: ['b.js'] } };
    expect(split.secrets && restoreEntrySecrets(other, split.secrets)).toBe('elsewhere');
  });

  it.each(['url', 'httpUrl', 'serverUrl', 'openapi', 'baseUrl', 'document', 'module'])(
    'are not restored if %s leads elsewhere',
    (key) => {
      const [here, there] = ['https://a.example/', 'https://b.example/'];
      const body = { ...record.body, entry: { [key]: here, headers: { Authorization: 'x' } } };
      const split = splitEntrySecrets({ kind: 'gateway', body }, new Set(['headers']));
      const other = { ...split.open.body, entry: { [key]: there } };
      expect(split.secrets && restoreEntrySecrets(other, split.secrets)).toBe('elsewhere');
    },
  );

  it('of another entry are not restored by a record that names its members', () => {
    const other = {
      ...open.body,
      entry: { url: 'https://evil.example' },
      withheld: ['headers', '__proto__'],
    };
    expect(secrets && restoreEntrySecrets(other, secrets)).toBe('elsewhere');
    const named = { ...open.body, withheld: ['headers', '__proto__', 'constructor'] };
    expect(secrets && restoreEntrySecrets(named, secrets)).toEqual({
      ...record.body,
      withheld: ['__proto__', 'constructor'],
    });
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
