import { describe, expect, it } from 'vitest';
import { exportedTools } from '../../src/functions/exported-tools.ts';

describe('a function', () => {
  it('with contradictory annotations is refused, and affects no other', () => {
    const run = (): string => 'x';
    const annotations = { readOnlyHint: true, destructiveHint: true };
    const exported = {
      default: [
        { name: 'torn', run, annotations },
        { name: 'whole', run },
      ],
    };
    const { tools, skipped } = exportedTools(exported, undefined);
    expect([...tools.keys()]).toEqual(['whole']);
    expect(skipped).toEqual([
      {
        what: 'default[0]',
        why: 'has annotations that contradict each other: readOnlyHint and destructiveHint are both true; set one of them to false',
      },
    ]);
  });
});
