import { expect, it } from 'vitest';
import {
  checkHome,
  checkNode,
  checkOpenFiles,
  checkStore,
  type HomeFacts,
  type StoreFacts,
} from '../../src/core/check-machine.ts';

const NODE = {
  version: '24.0.0',
  execPath: '/node',
  minVersion: '22.23',
  ownVersion: '1.2.3',
  checksCertificates: true,
};

it('a Node that checks no certificates is a warning', () => {
  const found = checkNode({ ...NODE, checksCertificates: false });
  expect(found.map(({ level, about }) => `${level} ${about}`)).toEqual([
    'ok /node',
    'warning NODE_TLS_REJECT_UNAUTHORIZED',
  ]);
});

it.each([
  ['22.23.0', 'ok'],
  ['24.0.0', 'ok'],
  ['22.18.9', 'problem'],
  ['20.20.2', 'problem'],
])('Node %s is %s', (version, level) => {
  const found = checkNode({ ...NODE, version });
  expect(found.map((one) => one.level)).toEqual([level]);
  expect(found[0]?.message).toContain(`Node ${version} runs Assay 1.2.3, which needs 22.23 or newer`);
});

const GOOD: HomeFacts = {
  path: '/home/me/.assay',
  is: 'folder',
  isWritable: true,
  mode: 0o700,
  freeBytes: 5_000_000_000,
  catalogFault: undefined,
};

it.each<[Partial<HomeFacts>, readonly string[]]>([
  [{}, ['ok The home exists and can be written.']],
  [
    { is: 'absent', mode: undefined },
    ['ok The home does not exist yet; the first start creates it, accessible only to you.'],
  ],
  [{ is: 'absent', isWritable: false }, ['problem The home does not exist and cannot be made.']],
  [{ isWritable: false }, ['problem The home cannot be written, so nothing that is learnt can be kept.']],
  [
    { is: 'not_a_folder', mode: 0o644 },
    ['problem The home is not a folder, so nothing can be stored there.'],
  ],
  [
    { mode: 0o755 },
    [
      'ok The home exists and can be written.',
      'warning Other users of this machine can access the home (mode 755), which holds what Assay knows about your servers.',
    ],
  ],
  [
    { exposed: [{ path: '/home/me/.assay/admin-token', mode: 0o644, unsafe: undefined }] },
    [
      'ok The home exists and can be written.',
      'warning It holds secrets, and other users of this machine can access it (mode 644). The next start removes their access.',
    ],
  ],
  [
    {
      exposed: [
        {
          path: '/h/assay.db',
          mode: 0o666,
          unsafe: { at: '/h/assay.db', reason: 'is writable by every user (mode 666)', command: 'chmod …' },
        },
      ],
    },
    [
      'ok The home exists and can be written.',
      'problem It holds secrets, and others could change it: /h/assay.db is writable by every user (mode 666). Assay refuses to start until this is fixed.',
    ],
  ],
  [
    { freeBytes: 199_999_999 },
    [
      'ok The home exists and can be written.',
      'warning Only 199 MB are free on its disk; once it is full nothing can be kept.',
    ],
  ],
  [
    { freeBytes: 19_999_999 },
    [
      'ok The home exists and can be written.',
      'problem Only 19 MB are free on its disk; once it is full nothing can be kept.',
    ],
  ],
  [{ freeBytes: undefined }, ['ok The home exists and can be written.']],
  [
    { catalogFault: 'permission denied' },
    [
      'ok The home exists and can be written.',
      'warning What was last seen of the servers cannot be read (permission denied), so each start waits for all of them.',
    ],
  ],
])('the home is reported with all its problems: %j', (facts, expected) => {
  const found = checkHome({ ...GOOD, ...facts });
  expect(found.map(({ level, message }) => `${level} ${message}`)).toEqual(expected);
});

it.each([
  [undefined, []],
  [1_024, []],
  [1_023, ['warning']],
])('a limit of %s open files is a warning only below 1,024', (max, levels) => {
  expect(checkOpenFiles(max).map(({ level }) => level)).toEqual(levels);
});

it.each<[StoreFacts, readonly string[]]>([
  [{ kind: 'file', place: '/h/assay.db', is: 'absent' }, []],
  [{ kind: 'file', place: '/h/assay.db', is: 'whole' }, ['ok The store can be read and is whole.']],
  [
    { kind: 'file', place: '/h/assay.db', is: 'newer' },
    ['problem A newer Assay wrote the store, so this one does not touch it.'],
  ],
  [
    { kind: 'file', place: '/h/assay.db', is: 'earlier' },
    [
      'warning An earlier build of Assay created the store, and this one cannot read it. The next start sets it aside and creates an empty one.',
    ],
  ],
  [
    { kind: 'database', place: 'db/assay', is: 'earlier' },
    [
      'problem An earlier build of Assay created its tables in this database, and this one cannot read them, so it does not start.',
    ],
  ],
  [
    { kind: 'database', place: 'db/assay', is: 'at_fault', fault: 'nothing listens there' },
    ['problem The store cannot be used (nothing listens there), so nothing can be kept in it.'],
  ],
])('the store is reported with its state: %j', (facts, expected) => {
  expect(checkStore(facts).map(({ level, message }) => `${level} ${message}`)).toEqual(expected);
});
