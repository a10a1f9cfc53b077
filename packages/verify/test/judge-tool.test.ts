import { describe, expect, it } from 'vitest';
import { DEFAULTS, type DeclaredHints, type Hint, HINTS } from '@assay-mcp/kit/hint';
import { formatSignal } from '@assay-mcp/kit/verification/texts';
import type { ToolReport, VerdictKind } from '@assay-mcp/kit/verification/verdict';
import type { Mechanism, Observation, StateChange, TracedEvent } from '@assay-mcp/sandbox/observation';
import { judgeTool, withChangesInMemory } from '../src/judge/judge-tool.ts';
import type { Trial, Trials } from '../src/judge/trial.ts';
import {
  answer,
  created,
  deleted,
  dns,
  file,
  modified,
  observation,
  removal,
  SEED,
  trial,
} from './observations.ts';

const ALL: readonly Mechanism[] = ['overlay', 'syscall_trace', 'no_io_uring', 'empty_network', 'canaries'];

function given(trials: readonly Trial[], part: Partial<Trials> = {}): Trials {
  return {
    ...{
      trials,
      background: { targets: new Set<string>(), startTargets: new Set<string>() },
      mechanisms: ALL,
      seed: SEED,
      unwatched: undefined,
      stopped: undefined,
    },
    ...part,
  };
}

function kinds(declared: DeclaredHints, trials: Trials): Readonly<Record<Hint, VerdictKind>> {
  const { verdicts } = judgeTool({ name: 't', digest: 'd', declared }, trials);
  return Object.fromEntries(HINTS.map((hint) => [hint, verdicts[hint].kind])) as Record<Hint, VerdictKind>;
}

const NOISE: StateChange = { ...created('/home/u/.cache/x'), noise: 'cache' };
const LOG: StateChange = { ...created('/home/u/state/logs/x.log'), noise: 'log' };
const FOLDER: StateChange = {
  path: '/home/u/state',
  kind: 'created',
  after: { type: 'folder', mode: 0o755 },
};

/** The effect of one call, and which of the three properties that hints describe it concerns. */
const BEHAVIORS: readonly {
  readonly name: string;
  readonly does: Partial<Observation>;
  readonly writes: boolean;
  readonly destroys: boolean;
  readonly reachesOut: boolean;
}[] = [
  { name: 'nothing', does: {}, writes: false, destroys: false, reachesOut: false },
  {
    name: 'a new file',
    does: { changes: [created('/seed/a')] },
    writes: true,
    destroys: false,
    reachesOut: false,
  },
  {
    name: 'a lost file',
    does: { changes: [deleted('/seed/a')] },
    writes: true,
    destroys: true,
    reachesOut: false,
  },
  {
    name: 'an appended line',
    does: { changes: [modified('/seed/a', '1\n', '1\n2\n')] },
    writes: true,
    destroys: false,
    reachesOut: false,
  },
  {
    name: 'a lost line',
    does: { changes: [modified('/seed/a', '1\n2\n', '1\n')] },
    writes: true,
    destroys: true,
    reachesOut: false,
  },
  {
    name: 'a transient file',
    does: { events: [removal('/seed/t')] },
    writes: true,
    destroys: false,
    reachesOut: false,
  },
  {
    name: 'the log of a database that was opened and closed',
    does: { events: ['shm', 'wal'].map((one) => removal(`/seed/store.db-${one}`, 'database')) },
    writes: false,
    destroys: false,
    reachesOut: false,
  },
  {
    name: 'a transient file with the name of such a log',
    does: { events: [removal('/seed/store.db-wal')] },
    writes: true,
    destroys: false,
    reachesOut: false,
  },
  { name: 'a cache file', does: { changes: [NOISE] }, writes: false, destroys: false, reachesOut: false },
  {
    name: 'loot called cache',
    does: { changes: [{ ...created('/seed/.cache/x'), noise: 'cache' }] },
    writes: true,
    destroys: false,
    reachesOut: false,
  },
  {
    name: 'a log file in a new folder',
    does: { changes: [FOLDER, LOG] },
    writes: false,
    destroys: false,
    reachesOut: false,
  },
  {
    name: 'a log file and another in a new folder',
    does: { changes: [FOLDER, LOG, created('/home/u/state/x')] },
    writes: true,
    destroys: false,
    reachesOut: false,
  },
  {
    name: 'an empty folder',
    does: { changes: [FOLDER] },
    writes: true,
    destroys: false,
    reachesOut: false,
  },
  {
    name: 'a name looked up',
    does: { network: [dns('example.com')] },
    writes: false,
    destroys: false,
    reachesOut: true,
  },
];

/** The verdict that the specification demands, derived independently of the judge. */
function oracle(
  hint: Hint,
  declared: boolean | undefined,
  effects: { first: (typeof BEHAVIORS)[number]; again: (typeof BEHAVIORS)[number] },
  readOnly: boolean | undefined,
): VerdictKind {
  const { first, again } = effects;
  const happened = {
    readOnlyHint: first.writes || again.writes,
    destructiveHint: first.destroys || again.destroys,
    idempotentHint: again.writes && !again.name.startsWith('a transient file'),
    openWorldHint: first.reachesOut || again.reachesOut,
  }[hint];
  const hasMeaning =
    hint === 'readOnlyHint' || hint === 'openWorldHint' || readOnly !== true || declared !== undefined;
  if (!hasMeaning) return 'not_applicable';
  const promises = (declared ?? DEFAULTS[hint]) !== DEFAULTS[hint];
  const isAboutWrites = hint === 'destructiveHint' || hint === 'idempotentHint';
  const isExercised = !isAboutWrites || first.writes || again.writes;
  if (promises) return happened ? 'contradicted' : isExercised ? 'consistent' : 'unobserved';
  return happened ? 'supported' : 'not_exercised';
}

describe('every combination of two calls and declared hints', () => {
  for (const first of BEHAVIORS)
    for (const again of BEHAVIORS)
      it(`${first.name}, then ${again.name}`, () => {
        const trials = given([trial([first.does, again.does])]);
        for (const value of [true, false, undefined])
          for (const readOnlyHint of [true, false, undefined]) {
            const others = { destructiveHint: value, idempotentHint: value, openWorldHint: value };
            const declared = Object.fromEntries(
              Object.entries({ readOnlyHint, ...others }).filter(([, one]) => one !== undefined),
            );
            const expected = Object.fromEntries(
              HINTS.map((hint) => [hint, oracle(hint, declared[hint], { first, again }, readOnlyHint)]),
            );
            expect(kinds(declared, trials), JSON.stringify(declared)).toEqual(expected);
          }
      });
});

describe('nothing is called consistent', () => {
  const promising = {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  };
  const unobserved = Object.fromEntries(HINTS.map((hint) => [hint, 'unobserved']));
  const failed = trial([{}], {
    calls: [{ number: 1, atMs: 1, answer: answer('no such file', true), observation: observation() }],
  });

  it('without a trial, with the reason', () => {
    expect(kinds(promising, given([], { stopped: 'skipped' }))).toEqual(unobserved);
    const { verdicts } = judgeTool(
      { name: 't', digest: 'd', declared: promising },
      given([], { stopped: 'skipped' }),
    );
    expect(verdicts.readOnlyHint).toEqual({ kind: 'unobserved', reason: 'skipped' });
  });

  it('about changes without any', () => {
    expect(kinds(promising, given([trial([{}, {}])]))).toEqual({
      ...{ readOnlyHint: 'consistent', openWorldHint: 'consistent' },
      ...{ destructiveHint: 'unobserved', idempotentHint: 'unobserved' },
    });
    const { verdicts } = judgeTool(
      { name: 't', digest: 'd', declared: { destructiveHint: false } },
      given([trial([{ changes: [NOISE], network: [dns('example.com')] }, {}])]),
    );
    expect(verdicts.destructiveHint).toEqual({ kind: 'unobserved', reason: 'no_effect' });
    // What happened after a first call that failed was no repetition.
    const calls = [answer('no', true), answer()].map((one, at) => ({
      ...{ number: at + 1, atMs: 1, answer: one },
      observation: observation(at === 0 ? { changes: [created('/seed/a')] } : {}),
    }));
    expect(
      kinds({ idempotentHint: true }, given([trial([{}, {}]), trial([], { calls })])).idempotentHint,
    ).toBe('unobserved');
  });

  it('without a successful call', () => {
    expect(kinds(promising, given([failed]))).toEqual(unobserved);
    const failureAfter = (...texts: readonly string[]): string | undefined => {
      const sought = texts.map((text) => ({ ...answer(), isError: true, text }));
      return judgeTool({ name: 't', digest: 'd', declared: {} }, given([failed], { sought })).failure;
    };
    expect(failureAfter()).toBe('no such file');
    expect(failureAfter('no key', 'no key')).toBe('no key');
    expect(failureAfter('no key')).toBe('no such file');
  });

  it('without a mechanism that could have shown a contradiction', () => {
    const found = kinds(promising, given([trial([{}, {}])], { mechanisms: ['overlay', 'empty_network'] }));
    expect(found).toEqual({ ...unobserved, readOnlyHint: 'consistent' });
  });

  it('if an observation is incomplete', () => {
    expect(kinds(promising, given([trial([{ incomplete: ['events'] }, {}])]))).toEqual(unobserved);
  });

  it('read-only if a file was written without a visible change', () => {
    const written: TracedEvent = { kind: 'content', path: '/seed/a', atMs: 5, pid: 1, call: 'pwrite64' };
    const report = judgeTool(
      { name: 't', digest: 'd', declared: { ...promising, readOnlyHint: true } },
      given([trial([{ events: [written] }, {}])]),
    );
    expect(report.verdicts.readOnlyHint).toEqual({ kind: 'unobserved', reason: 'unseen_change' });
    const changes = [{ path: '/seed/a', kind: 'rewritten' as const }];
    expect(kinds(promising, given([trial([{ changes }, {}])]))).toEqual({
      ...unobserved,
      openWorldHint: 'consistent',
    });
  });

  it('if a service of this machine was to be reached, unless only a name was looked up', () => {
    const reaching = (path: string, error: string): Partial<Observation> => ({
      events: [
        { kind: 'connect', address: { family: 'unix', path }, error, atMs: 5, pid: 1, call: 'connect' },
      ],
    });
    const of = (one: Partial<Observation>): unknown => kinds(promising, given([trial([one, {}])]));
    for (const path of ['/run/docker.sock', '/home/u/.ipc', '@abstract'])
      for (const error of ['ENOENT', 'ECONNREFUSED', 'EACCES'])
        expect(of(reaching(path, error))).toEqual(unobserved);
    expect(kinds(promising, given([trial([reaching('/run/nscd/socket', 'ENOENT'), {}])])).readOnlyHint).toBe(
      'consistent',
    );
  });

  it('if it tried to act on what the sandbox hides', () => {
    const common = { atMs: 5, pid: 1 };
    const attempts: readonly Partial<Observation>[] = [
      { events: [{ ...common, kind: 'signal', call: 'kill', process: 99, error: 'ESRCH' }] },
      { events: [{ ...common, kind: 'shared_memory', call: 'shmget', name: 'shmget 0x4d2' }] },
      { events: [{ ...common, kind: 'privileged', call: 'clock_settime', error: 'EPERM' }] },
      { changes: [created('/dev/shm/loot')] },
    ];
    for (const one of attempts) {
      const trials = given([trial([one, {}])]);
      expect(kinds(promising, trials)).toEqual(unobserved);
      const { verdicts } = judgeTool({ name: 't', digest: 'd', declared: promising }, trials);
      expect(verdicts.readOnlyHint).toEqual({ kind: 'unobserved', reason: 'hidden_target' });
    }
    const harmless: readonly Partial<Observation>[] = [
      { events: [{ ...common, kind: 'privileged', call: 'unshare', error: 'EPERM' }] },
      { events: [{ ...common, kind: 'privileged', call: 'mount' }] },
      { events: [removal('/dev/shm/sem')] },
    ];
    for (const one of harmless)
      expect(kinds(promising, given([trial([one, {}])])).readOnlyHint).toBe('consistent');
  });

  it('read-only while a file is mapped so that it can be written', () => {
    expect(kinds(promising, given([trial([{}, { mapped: ['/seed/a'] }])]))).toMatchObject({
      readOnlyHint: 'unobserved',
      openWorldHint: 'consistent',
    });
  });

  it('read-only or of a closed world if late effects were not observed', () => {
    const trials = given([trial([{}, {}])], { unwatched: 'unattributed_change' });
    const { verdicts } = judgeTool({ name: 't', digest: 'd', declared: promising }, trials);
    const reason = { kind: 'unobserved', reason: 'unattributed_change' };
    expect(verdicts).toMatchObject({ readOnlyHint: reason, openWorldHint: reason });
    const lying = given([trial([{ changes: [created('/seed/a')] }, {}])], { unwatched: 'time_limit' });
    expect(kinds(promising, lying).readOnlyHint).toBe('contradicted');
  });

  it('about repetition after one call', () => {
    expect(kinds(promising, given([trial([{}])])).idempotentHint).toBe('unobserved');
  });
});

describe('attribution', () => {
  const promising = { readOnlyHint: true, openWorldHint: false };
  const busy = { changes: [created('/seed/a')], network: [dns('example.com')] };

  it('a failed call that changed something is evidence', () => {
    const calls = [{ number: 1, atMs: 1, answer: answer('oops', true), observation: observation(busy) }];
    expect(kinds(promising, given([trial([], { calls })])).readOnlyHint).toBe('contradicted');
  });

  it('a change that also happens without a call is not evidence, and leaves the verdict open', () => {
    const unobserved = { kind: 'unobserved', reason: 'background_change' };
    const verdictsOf = (trials: Trials): unknown =>
      judgeTool({ name: 't', digest: 'd', declared: promising }, trials).verdicts;
    const control = observation(busy);
    const background = { targets: new Set(['/seed/a', 'example.com']), startTargets: new Set<string>() };
    for (const trials of [
      given([trial([busy, busy], { control })]),
      given([trial([busy, {}])], { background }),
    ])
      expect(verdictsOf(trials)).toMatchObject({ readOnlyHint: unobserved, openWorldHint: unobserved });
    expect(kinds(promising, given([trial([{}, {}])], { background }))).toMatchObject({
      readOnlyHint: 'consistent',
      openWorldHint: 'consistent',
    });
    expect(kinds({ readOnlyHint: false }, given([trial([busy, {}])], { background })).readOnlyHint).toBe(
      'unobserved',
    );
  });

  it('the first change of a file still pending from the server start is not evidence, but later ones are', () => {
    const again = { changes: [modified('/seed/a', 'x', 'xy')] };
    const pending = new Set(['/seed/a']);
    const kindOf = (calls: readonly Partial<Observation>[]): VerdictKind =>
      kinds(promising, given([trial(calls, { pending })])).readOnlyHint;
    expect(kindOf([{}, {}])).toBe('consistent');
    expect(kindOf([{ changes: busy.changes }, {}])).toBe('unobserved');
    expect(kindOf([{ changes: busy.changes }, again])).toBe('contradicted');
  });

  it('a change after the response is evidence against read-only, but leaves idempotency open', () => {
    const late = observation({ changes: [created('/seed/late')] });
    const report = judgeTool(
      { name: 't', digest: 'd', declared: { readOnlyHint: true, idempotentHint: true } },
      given([trial([{}, {}], { late })]),
    );
    expect(report.verdicts.readOnlyHint).toMatchObject({
      kind: 'contradicted',
      evidence: [
        { effect: 'added', message: 'created /seed/late after it had answered', call: 2, args: { a: 1 } },
      ],
    });
    expect(report.verdicts.idempotentHint).toEqual({ kind: 'unobserved', reason: 'unclear_change' });
    expect(report.signals).toContainEqual({ kind: 'late_change' });
  });

  it('a change whose content could not be compared is evidence only against read-only, and says why', () => {
    const comparison = { format: 'unknown', why: 'comparing it took longer than 5.0 s' } as const;
    const change: StateChange = { ...modified('/seed/a.db', 'x', 'y'), comparison };
    const trials = given([trial([{ changes: [change] }, { changes: [change] }])]);
    const declared = { readOnlyHint: false, destructiveHint: false, idempotentHint: true };
    const { verdicts } = judgeTool({ name: 't', digest: 'd', declared }, trials);
    const unclear = { kind: 'unobserved', reason: 'unclear_change' };
    expect(verdicts).toMatchObject({
      readOnlyHint: {
        kind: 'supported',
        evidence: [
          { message: 'changed /seed/a.db (what was lost is unknown: comparing it took longer than 5.0 s)' },
        ],
      },
      ...{ destructiveHint: unclear, idempotentHint: unclear },
    });
    expect(kinds({ readOnlyHint: true }, trials).readOnlyHint).toBe('contradicted');
  });

  it('what Git rewrites with every commit leaves open whether something was lost', () => {
    for (const path of [
      'index',
      'HEAD',
      'COMMIT_EDITMSG',
      'refs/heads/main',
      'logs/HEAD',
      'config',
      'refs/tags/v1',
    ]) {
      const trials = given([trial([{ changes: [modified(`${SEED}/.git/${path}`, 'one', 'other')] }])]);
      expect(kinds({ readOnlyHint: true }, trials).readOnlyHint).toBe('contradicted');
      const isLost = path === 'config' || path === 'refs/tags/v1';
      expect(kinds({ destructiveHint: false }, trials).destructiveHint).toBe(
        isLost ? 'contradicted' : 'unobserved',
      );
    }
  });

  it('a change in the tables of an index leaves open whether something was lost, but not whether it repeats', () => {
    const comparison = { format: 'sqlite', isAdditive: 'unknown', isTimestamps: false } as const;
    const change: StateChange = { ...modified('/seed/a.db', 'x', 'y'), comparison };
    const declared = { readOnlyHint: false, destructiveHint: false, idempotentHint: true };
    const once = kinds(declared, given([trial([{ changes: [change] }, {}])]));
    expect(once).toMatchObject({ destructiveHint: 'unobserved', idempotentHint: 'consistent' });
    const twice = kinds(declared, given([trial([{ changes: [change] }, { changes: [change] }])]));
    expect(twice).toMatchObject({ destructiveHint: 'unobserved', idempotentHint: 'contradicted' });
  });

  it('a repetition whose first call failed says nothing about idempotency', () => {
    const calls = [answer('no', true), answer()].map((one, at) => ({
      ...{ number: at + 1, atMs: 1, answer: one },
      observation: observation(at === 1 ? { changes: [created('/seed/a')] } : {}),
    }));
    expect(kinds({ idempotentHint: true }, given([trial([], { calls })])).idempotentHint).toBe('unobserved');
  });
});

describe('attributes of a file', () => {
  const promising = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
  const touched: StateChange = { path: '/seed/a', kind: 'touched', before: file('x'), after: file('x') };
  const set = (call: string, part: Partial<TracedEvent> = {}): TracedEvent =>
    ({ kind: 'attributes', path: '/seed/a', atMs: 5, pid: 1, call, ...part }) as TracedEvent;
  const readOnly = (one: Partial<Observation>): unknown => {
    const trials = given([trial([one, {}])]);
    const verdict = judgeTool({ name: 't', digest: 'd', declared: promising }, trials).verdicts.readOnlyHint;
    if (verdict.kind === 'unobserved') return verdict.reason;
    return verdict.kind === 'contradicted' ? verdict.evidence.map(({ message }) => message) : verdict.kind;
  };

  it('are evidence against read-only if their times differ afterwards, or if they are extended', () => {
    expect(readOnly({ changes: [touched], events: [set('utimensat')] })).toEqual([
      'changed the times of /seed/a',
    ]);
    for (const call of ['setxattr', 'fremovexattr'])
      expect(readOnly({ events: [set('fchmod'), set(call)] })).toEqual([
        'set extended attributes of /seed/a',
      ]);
  });

  it('leave read-only open if they were restored, or if a file was written and only its time differs', () => {
    expect(readOnly({ events: [set('utimensat')] })).toBe('unseen_change');
    expect(readOnly({ events: [set('fchmodat')] })).toBe('unseen_change');
    expect(readOnly({ changes: [touched] })).toBe('unseen_change');
    expect(readOnly({ changes: [touched], events: [set('fchmodat')] })).toBe('unseen_change');
  });

  it('are part of another change, and no evidence if they could not be set or belong to a cache', () => {
    const changes = [modified('/seed/a', 'x', 'xy')];
    expect(readOnly({ changes, events: [set('utimensat'), set('setxattr')] })).toHaveLength(1);
    expect(readOnly({ events: [set('setxattr', { error: 'EPERM' })] })).toBe('consistent');
    const path = '/home/u/.cache/x';
    expect(readOnly({ events: [set('setxattr', { path, noise: 'cache' })] })).toBe('consistent');
    expect(readOnly({ changes: [{ ...touched, path, noise: 'cache' }] })).toBe('consistent');
  });

  it('say nothing about a repetition if only times differ', () => {
    const one = { changes: [touched], events: [set('utimensat')] };
    expect(kinds(promising, given([trial([one, one])]))).toMatchObject({
      readOnlyHint: 'contradicted',
      ...{ destructiveHint: 'consistent', idempotentHint: 'consistent' },
    });
  });
});

describe('what a server does when it is asked to end', () => {
  const left = (text: string): Observation => observation({ changes: [created('/seed/exit', text)] });
  const verdictsOf = (part: Partial<Trial>): unknown => {
    const declared = { readOnlyHint: true, idempotentHint: true };
    const { verdicts } = judgeTool({ name: 't', digest: 'd', declared }, given([trial([{}, {}], part)]));
    return verdicts;
  };
  const unobserved = { kind: 'unobserved', reason: 'background_change' };

  it('is evidence if it does nothing like it without a call, but says nothing about a repetition', () => {
    expect(verdictsOf({ end: left('x'), endWithoutCall: observation() })).toMatchObject({
      readOnlyHint: {
        kind: 'contradicted',
        evidence: [{ message: 'created /seed/exit when its server ended', call: 2 }],
      },
      idempotentHint: { kind: 'unobserved', reason: 'unclear_change' },
    });
  });

  it('is no evidence if it does the same without a call', () => {
    expect(verdictsOf({ end: left('x'), endWithoutCall: left('x') })).toMatchObject({
      readOnlyHint: { kind: 'consistent' },
    });
  });

  it('leaves read-only open if it does it differently without a call, or if that is unknown', () => {
    for (const endWithoutCall of [left('y'), undefined])
      expect(verdictsOf({ end: left('x'), endWithoutCall })).toMatchObject({ readOnlyHint: unobserved });
    const incomplete = observation({ incomplete: ['events'] });
    expect(verdictsOf({ end: incomplete })).toMatchObject({
      readOnlyHint: { kind: 'unobserved', reason: 'incomplete' },
    });
  });
});

describe('signals', () => {
  const differing = (replay: string): Trial => {
    const base = trial([{}, {}]);
    const calls = base.calls.map((call, at) => ({ ...call, answer: answer(String(at)) }));
    return { ...base, calls, replay: answer(replay) };
  };
  const signals = (one: Trial): readonly string[] =>
    judgeTool({ name: 't', digest: 'd', declared: { readOnlyHint: true } }, given([one])).signals.map(
      ({ kind }) => kind,
    );

  it('a new process distinguishes in-process state from clocks and randomness', () => {
    expect(signals(differing('0'))).toEqual(['in_process_state']);
    expect(signals(differing('7'))).toContain('nondeterministic');
  });

  it('state in memory that other tools show is not called unjudged', () => {
    const report = judgeTool(
      { name: 't', digest: 'd', declared: { readOnlyHint: true } },
      given([differing('0')]),
    );
    const evidence = { effect: 'memory', message: '', call: 1, args: {}, atMs: 0, target: 'list' } as const;
    const texts = (one: ToolReport): readonly string[] => one.signals.map(formatSignal);
    expect(texts(report).join()).toContain('which is not judged');
    expect(texts(withChangesInMemory(report, [{ hint: 'readOnlyHint', evidence: [evidence] }]))).toEqual([
      'other tools of the server return different data after its calls',
    ]);
  });

  it('noise is listed, not dropped', () => {
    const report = judgeTool(
      { name: 't', digest: 'd', declared: {} },
      given([trial([{ changes: [NOISE] }, {}])]),
    );
    expect(report.signals).toContainEqual({
      kind: 'noise',
      noise: 'cache',
      count: 1,
      paths: ['/home/u/.cache/x'],
    });
  });

  it('a cautious value without evidence only leads to a suggestion', () => {
    const report = judgeTool(
      { name: 't', digest: 'd', declared: { readOnlyHint: false } },
      given([trial([{}, {}])]),
    );
    expect(report.verdicts.readOnlyHint).toEqual({ kind: 'not_exercised' });
    expect(report.signals).toContainEqual({ kind: 'over_declared', hint: 'readOnlyHint' });
  });
});
