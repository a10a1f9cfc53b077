import { expect, it } from 'vitest';
import { formatVerifyFault } from '@assay-mcp/kit/verification/verify-fault';
import { readBaseline } from '../src/baseline.ts';
import { readFixtures } from '../src/fixtures.ts';

it('fixtures are read with their calls', () => {
  const text = JSON.stringify({
    seed: 'a',
    tools: { b: { calls: [{ c: [1] }] }, d: { skip: 'e' }, f: { todo: 'g' } },
  });
  expect(readFixtures(text)).toEqual({
    ok: true,
    value: {
      seed: 'a',
      tools: new Map([
        ['b', { calls: [{ c: [1] }], skip: undefined }],
        ['d', { calls: [], skip: 'e' }],
        ['f', { calls: [], skip: undefined }],
      ]),
    },
  });
  expect(readFixtures('{}')).toEqual({ ok: true, value: { seed: undefined, tools: new Map() } });
});

it.each([
  ['[]', 'it must be an object'],
  ['{"sed": "a"}', 'sed: there is no such member; did you mean "seed"?'],
  ['{"seed": 1}', 'seed: it must be a string'],
  ['{"tools": []}', 'tools: it must be an object'],
  ['{"tools": {"a": {"call": []}}}', 'tools.a.call: there is no such member; did you mean "calls"?'],
  ['{"tools": {"a": {"calls": [{}, 5]}}}', 'tools.a.calls.1: it must be an object'],
  ['{"tools": {"a": {"skip": " "}}}', 'tools.a.skip: it must say why the tool is never called'],
  [
    JSON.stringify({ tools: { a: { calls: Array.from({ length: 51 }, () => ({})) } } }),
    'tools.a.calls: it may have at most 50 calls',
  ],
])('fixtures cannot be %s', (text, fault) => {
  const read = readFixtures(text);
  expect(read.ok ? '' : formatVerifyFault({ file: 'f', ...read.error })).toBe(
    `f: ${fault}. See docs/VERIFY.md.`,
  );
});

it('a file that is not JSON is refused with the reason', () => {
  const fault = {
    code: 'FIXTURES_INVALID',
    field: '',
    problem: expect.stringMatching(/^it is not JSON: ./) as string,
  };
  expect(readFixtures('{')).toEqual({ ok: false, error: fault });
});

it('a baseline is read, or refused with the position of its first fault', () => {
  const accepted = [{ tool: 'a', hint: 'readOnlyHint', reason: 'b' }];
  expect(readBaseline(JSON.stringify({ accepted, comment: 'c' }))).toEqual({ ok: true, value: accepted });
  const faultOf = (value: unknown): unknown => {
    const read = readBaseline(JSON.stringify(value));
    return read.ok ? '' : `${read.error.code} ${read.error.field}: ${read.error.problem}`;
  };
  expect(faultOf({})).toBe('BASELINE_INVALID accepted: it is missing');
  expect(faultOf({ accepted: [{ ...accepted[0], hint: 'safeHint' }] })).toBe(
    'BASELINE_INVALID accepted.0.hint: it must be one of readOnlyHint, destructiveHint, idempotentHint, openWorldHint',
  );
  expect(faultOf({ accepted: [{ ...accepted[0], reason: '' }] })).toBe(
    'BASELINE_INVALID accepted.0.reason: it must say why the contradiction is accepted',
  );
});
