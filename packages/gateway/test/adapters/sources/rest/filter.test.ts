// What a filter may cost: time, memory, and delays of concurrent calls.
import { describe, expect, it } from 'vitest';
import { Cancellation, Cancelled } from '@assay-mcp/kit/cancellation';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import {
  applyFilter,
  formatFilterFault,
  findFilterFault,
} from '../../../../src/adapters/sources/http/filter.ts';
import { FilterProcesses } from '../../../../src/adapters/sources/http/filter-processes.ts';
import { endLater } from '../../../../../../test/support/endings.ts';
import { scaledMs } from '../../../../../../test/support/slow-machine.ts';

const MAX = 1024 * 1024;
const never = new Cancellation();

function runner(limits: ConstructorParameters<typeof FilterProcesses>[1] = {}): FilterProcesses {
  const opened = new FilterProcesses(PLAIN_LAUNCHER, limits);
  endLater(() => opened.close());
  return opened;
}

const times = (count: number, part: string): string => Array.from({ length: count }, () => part).join(' | ');
const DOUBLES = times(30, '[@,@][]');
/** Small in memory, because its parts are shared, but enormous as text. */
const SHARES = times(40, '[@,@]');

describe('the filter processes', () => {
  const hostile = runner({ taskMs: 750, heapMiB: 64 });
  const run = (expression: string, value: unknown = {}): ReturnType<FilterProcesses['run']> =>
    hostile.run({ expression, text: JSON.stringify(value), maxCharacters: MAX }, never);
  const numbers = Array.from({ length: 300_000 }, (_, index) => (index * 7919) % 300_007);

  const cases: readonly (readonly [what: string, expression: string, value: unknown])[] = [
    ['lists that double', DOUBLES, {}],
    ['shared lists written as text', SHARES, {}],
    ['shared lists written as text by a function', `to_string(${SHARES})`, {}],
    [
      'an allocation larger than the heap, which would crash the process',
      "split(@, '')",
      'x'.repeat(30_000_000),
    ],
    ['a huge padding', "pad_left('a', `500000000`) | [@, @, @, @] | join('', @)", {}],
    ['a huge replacement', "replace('a', 'a', 'aa', `2000000000`)", {}],
    ['a join of many strings', `${times(20, '[@,@][]')} | map(&'${'x'.repeat(500)}', @) | join('', @)`, [1]],
    ['nested maps', 'map(&map(&sort(@), $), @)', Array.from({ length: 2_000 }, () => numbers.slice(0, 20))],
    ['repeated sorting', times(60, 'sort_by(@, &to_string(@))'), numbers],
    ['a trim that backtracks', 'trim_right(@)', `${' '.repeat(200_000)}x`],
  ];

  it.each(cases)('limit the cost of %s', async (_what, expression, value) => {
    const result = await run(expression, value);
    if (result.ok) expect(result.value.length).toBeLessThanOrEqual(MAX);
    else expect(['too_slow', 'out_of_memory', 'result_too_large']).toContain(result.error.code);
    expect(await run('a', { a: [1] }), 'and the next').toEqual({ ok: true, value: '[1]' });
  });

  it('evaluate other expressions while one is slow, and each expression only once at a time', async () => {
    const shared = runner({ taskMs: scaledMs(1_000) });
    const ended: string[] = [];
    const ask = async (name: string, expression: string): Promise<void> => {
      const task = { expression, text: '{"a":1}', maxCharacters: MAX };
      const result = await shared.run(task, never);
      ended.push(`${name} ${result.ok ? result.value : result.error.code}`);
    };
    // Both processes must be running before the slow task starts.
    await Promise.all(['x', 'y'].map((name) => ask(name, name)));
    ended.length = 0;
    const slow = [ask('slow', SHARES), ask('again', SHARES)];
    await Promise.all(Array.from({ length: 20 }, () => ask('quick', 'a')));
    expect(new Set(ended)).toEqual(new Set(['quick 1']));
    await Promise.all(slow);
    expect(ended.slice(20)).toEqual(['slow too_slow', 'again too_slow']);
  });

  it('drop a cancelled task, and refuse tasks beyond their capacity', async () => {
    const small = runner({ waitingCharacters: 10 });
    const task = { expression: '@', text: '[1]', maxCharacters: MAX };
    const cancellation = new Cancellation();
    const first = small.run(task, never);
    const left = small.run(task, cancellation);
    cancellation.cancel();
    await expect(left).rejects.toThrow(Cancelled);
    const waiting = [small.run(task, never), small.run(task, never), small.run(task, never)];
    expect(await small.run(task, never)).toEqual({ ok: false, error: { code: 'queue_full' } });
    for (const one of [first, ...waiting]) expect(await one).toEqual({ ok: true, value: '[1]' });
  });

  it('accept no tasks once closed, and fail pending ones', async () => {
    const closing = runner();
    const task = { expression: SHARES, text: '{}', maxCharacters: MAX };
    const asked = [closing.run(task, never), closing.run(task, never)];
    await closing.close();
    for (const one of [...asked, closing.run(task, never)])
      expect(await one).toMatchObject({ ok: false, error: { code: 'process_ended' } });
  });
});

describe('the error of a failed filter', () => {
  it('says which filter failed and why, that the request was sent, and what to do', () => {
    const filtering = { expression: DOUBLES, request: 'POST https://host/a', text: '{}' };
    const filter = `"${DOUBLES.slice(0, 100)}"…`;
    const errorFor = (fault: Parameters<typeof formatFilterFault>[0]): string =>
      formatFilterFault(fault, filtering);
    expect(errorFor({ code: 'too_slow', limitMs: 5_000 })).toBe(
      `The request POST https://host/a was carried out, but its filter ${filter} did not finish within 5 s and was stopped. Simplify the filter, or request less.`,
    );
    expect(errorFor({ code: 'out_of_memory', limitMiB: 512 })).toBe(
      `The request POST https://host/a was carried out, but its filter ${filter} needed more than 512 MiB of memory and was stopped. Simplify the filter, or request less.`,
    );
    expect(errorFor({ code: 'result_too_large', maxCharacters: 9 })).toBe(
      `The request POST https://host/a was carried out, but its filter ${filter} gives more than the allowed 9 characters. Simplify the filter, or request less.`,
    );
  });
});

describe('an expression', () => {
  it.each([
    '!'.repeat(4_000) + 'a',
    '('.repeat(4_000),
    `${'['.repeat(2_000)}a${']'.repeat(2_000)}`,
    `${'{a:'.repeat(1_000)}a${'}'.repeat(1_000)}`,
    times(1_000, 'a'),
    'a.'.repeat(2_000) + 'a',
  ])('is rejected if it nests too deeply: %#', (expression) => {
    expect(findFilterFault(expression)).toBe('the expression is nested too deeply');
  });

  it('may have a hundred parts', () => {
    expect(findFilterFault(times(100, '[*].{a: a, b: not_null(b.c, `1`)}'))).toBeUndefined();
  });

  it('cannot yield a value that nests too deeply to be read', () => {
    const wraps = `${'['.repeat(20)}@${']'.repeat(20)}`;
    const text = `${'['.repeat(990)}${']'.repeat(990)}`;
    expect(applyFilter({ expression: wraps, text, maxCharacters: MAX })).toEqual({
      ok: false,
      error: { code: 'result_too_deep' },
    });
  });
});
