// How late changes from a server's start are handled.
import pLimit from 'p-limit';
import { describe, expect, it } from 'vitest';
import { ok } from '@assay-mcp/kit/result';
import type { VerdictKind } from '@assay-mcp/kit/verification/verdict';
import type { SetupCall } from '../src/experiment/explore-tools.ts';
import { type CalledServer, hasSucceeded, runTool } from '../src/experiment/run-tool.ts';
import { judgeTool } from '../src/judge/judge-tool.ts';
import type { Observation, StateChange } from '@assay-mcp/sandbox/observation';
import { answer, created, modified, observation, SEED } from './observations.ts';

const STORE = '/seed/store.json';
const FROM_START = created(STORE, '{"starts":1}');

interface Script {
  /** The observations without a call, in order. Later ones are empty. */
  readonly idle?: readonly Partial<Observation>[];
  /** The observation after each call, in order. Later ones are empty. */
  readonly called: readonly Partial<Observation>[];
}

/** A sandboxed server with scripted effects. */
function scripted({ idle = [], called }: Script): CalledServer {
  const [waiting, calls] = [[...idle], [...called]];
  let seen: Partial<Observation> = {};
  return {
    hasEnded: false,
    openMs: 0,
    call: () => {
      // Pending changes happen now, and each file shows a single change.
      const changes = [...waiting.splice(0), calls.shift() ?? {}].flatMap((one) => one.changes ?? []);
      seen = { changes: [...new Map(changes.map((change) => [change.path, change])).values()] };
      return Promise.resolve({ answer: answer() });
    },
    observe: () => {
      const found = Object.keys(seen).length > 0 ? seen : (waiting.shift() ?? {});
      seen = {};
      return Promise.resolve(observation(found));
    },
    finish: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/** The verdict on `readOnlyHint: true` of a tool that is called twice. `scripts`: one for each sandbox. */
async function verdictIn(...scripts: readonly Script[]): Promise<VerdictKind> {
  const left = [...scripts];
  const startTargets = new Set([STORE]);
  const run = await runTool({
    tool: 't',
    sets: [{ args: {}, origin: 'fixture', shape: '{}' }],
    variants: [],
    setups: [[]],
    creatingCalls: [],
    pace: { controlMs: 1, startMs: 5, settleMs: 0, lateMs: 0, roundMs: 0, callLimitMs: 1_000, repeats: 2 },
    ...{ seed: SEED, startTargets },
    openServer: () => {
      const script = left.shift();
      if (script === undefined) throw new Error('a sandbox too many');
      return Promise.resolve(ok(scripted(script)));
    },
    endWithoutCall: () => Promise.resolve(undefined),
    limits: { first: pLimit(1), again: pLimit(1) },
    signal: new AbortController().signal,
  });
  expect(left).toEqual([]);
  const background = { targets: new Set<string>(), startTargets };
  const given = { ...run, background, mechanisms: ['overlay'] as const, seed: SEED, unwatched: undefined };
  return judgeTool({ name: 't', digest: 'd', declared: { readOnlyHint: true } }, given).verdicts.readOnlyHint
    .kind;
}

describe('a file that the server changes while it starts', () => {
  const ownWrite = { changes: [modified(STORE, '{"starts":1}', '{}')] };
  const start = { changes: [FROM_START] };

  it('is waited for before the first call, so that changes by the call count', async () => {
    const idle = [...nothing(40), start];
    expect(await verdictIn({ idle, called: [ownWrite] })).toBe('contradicted');
    expect(await verdictIn({ idle, called: [{}] })).toBe('consistent');
  });

  it('may change again while the server is still starting', async () => {
    expect(await verdictIn({ idle: [start, ...nothing(4), ownWrite], called: [{}] })).toBe('consistent');
  });

  it('is not evidence if only the first call changes it, but a fresh sandbox may show more', async () => {
    const never = { idle: [...nothing(200), start], called: [ownWrite] };
    expect(await verdictIn(never, never)).toBe('unobserved');
    expect(await verdictIn(never, { idle: [start], called: [ownWrite] })).toBe('contradicted');
    expect(await verdictIn(never, { idle: [start], called: [{}] })).toBe('consistent');
  });
});

describe('a tool that says that it destroys nothing', () => {
  const creatingCalls: readonly SetupCall[] = [{ tool: 'plant', args: {}, values: [] }];

  /** The calls in each server, and the trials. After `plant`, `changes` happens in each server, late. */
  async function tidied(given: readonly SetupCall[], changes: readonly StateChange[] = []) {
    const calls: string[][] = [];
    const { trials } = await runTool({
      ...{ tool: 'tidy', sets: [{ args: {}, origin: 'fixture', shape: '{}' }], variants: [] },
      ...{ setups: [[]], creatingCalls: given, seed: SEED, startTargets: new Set<string>() },
      pace: { controlMs: 1, startMs: 0, settleMs: 0, lateMs: 0, roundMs: 0, callLimitMs: 1_000, repeats: 2 },
      openServer: () => {
        const own: string[] = [];
        calls.push(own);
        const call: CalledServer['call'] = (name) => {
          own.push(name);
          return Promise.resolve({ answer: answer() });
        };
        let observations = 0;
        const observe = (): Promise<Observation> => {
          observations += 1;
          return Promise.resolve(observation(own[0] === 'plant' && observations === 3 ? { changes } : {}));
        };
        return Promise.resolve(ok({ ...scripted({ called: [] }), call, observe }));
      },
      endWithoutCall: () => Promise.resolve(undefined),
      limits: { first: pLimit(1), again: pLimit(1) },
      signal: new AbortController().signal,
    });
    return { calls, trials };
  }

  it('is also called after other tools have created data', async () => {
    const { calls, trials } = await tidied(creatingCalls);
    expect(trials).toHaveLength(2);
    expect(calls).toHaveLength(2);
    expect(calls).toEqual(
      expect.arrayContaining([
        ['tidy', 'tidy'],
        ['plant', 'tidy'],
      ]),
    );
    expect((await tidied([])).trials).toHaveLength(1);
  });

  it('is compared there with a server in which it is not called', async () => {
    const { calls, trials } = await tidied(creatingCalls, [FROM_START]);
    expect(calls).toContainEqual(['plant']);
    expect(trials.at(-1)?.control.changes).toEqual([FROM_START]);
  });
});

it('a flag that fails after other calls is tried in a server of its own', async () => {
  let opened = 0;
  const { trials } = await runTool({
    ...{
      tool: 'plant',
      sets: [{ args: {}, origin: 'fixture', shape: '{}' }],
      setups: [[]],
      creatingCalls: [],
    },
    variants: ['a', 'b'].map((bed) => ({
      ...({
        args: { bed, replace: true },
        origin: 'heuristic',
        shape: '{"bed":string,"replace":true}',
      } as const),
    })),
    ...{ seed: SEED, startTargets: new Set<string>() },
    pace: { controlMs: 1, startMs: 0, settleMs: 0, lateMs: 0, roundMs: 0, callLimitMs: 1_000, repeats: 2 },
    openServer: () => {
      opened += 1;
      const isFirst = opened === 1;
      const call: CalledServer['call'] = (_, args) =>
        Promise.resolve({ answer: isFirst && args['bed'] === 'a' ? answer('in use', true) : answer() });
      return Promise.resolve(ok({ ...scripted({ called: [] }), call }));
    },
    endWithoutCall: () => Promise.resolve(undefined),
    limits: { first: pLimit(1), again: pLimit(1) },
    signal: new AbortController().signal,
  });
  expect(opened).toBe(2);
  expect(trials.filter(({ args }) => args['bed'] === 'a').map(hasSucceeded)).toEqual([true]);
});

function nothing(times: number): readonly Partial<Observation>[] {
  return Array.from({ length: times }, () => ({}));
}
