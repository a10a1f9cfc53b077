import { expect, it } from 'vitest';
import { ExportCheck, formatBatchLine, formatCallLine } from '../../../src/core/activity/call-export.ts';
import {
  batchOf,
  droppedCalls,
  MemoryRecord,
  recordedCall,
} from '../../../../../test/support/call-values.ts';

const RECORD = new MemoryRecord();
RECORD.add(batchOf([recordedCall(1), droppedCalls(2, 7), recordedCall(3, { session: 'ab' })]));
const [BATCH = expect.unreachable()] = RECORD.batches;
const LINES = [formatBatchLine(BATCH), ...RECORD.calls.map(formatCallLine)];

function check(lines: readonly string[]): unknown {
  const checked = new ExportCheck();
  for (const line of lines) {
    const added = checked.add(line);
    if (!added.ok) return added.error;
  }
  return checked.end().faults.map(({ code }) => code);
}

it('an export is intact, also if earlier batches were removed before it', () => {
  expect(check(LINES)).toEqual([]);
  expect(check([])).toEqual([]);
});

const deep = '['.repeat(20_000) + ']'.repeat(20_000);

it.each([
  '{}',
  'null',
  '{"kind":"call"}',
  '{"kind":"call","at":"2026-11-23T20:00:00Z","tool":{"publicName":"x"}}',
  '{"kind":"dropped","at":"2026-11-23T20:00:00Z","count":"7"}',
  LINES[1]?.replace(/^.*"entry":|\}\n$/g, '').replace('{', `{"deep":${deep},`) ?? '',
])('an entry that Assay did not write is a fault, not the end: %$', (entry) => {
  const lines = LINES.map((line, at) => (at === 1 ? `{"id":1,"entry":${entry}}` : line));
  expect(check(lines)).toEqual(['batch_changed']);
});

it('a line that is not of an export is refused with its number', () => {
  expect(check([...LINES, 'x'])).toEqual({ line: 5, problem: 'invalid' });
  expect(check(LINES.slice(1))).toEqual({ line: 1, problem: 'no_batch' });
  expect(check(['{"kind":"batch"}'])).toEqual({ line: 1, problem: 'invalid' });
  const tooMany = Array.from({ length: 2_000 }, () => LINES[1] ?? '');
  expect(check([LINES[0] ?? '', ...tooMany])).toEqual({ line: 1_003, problem: 'invalid' });
});
