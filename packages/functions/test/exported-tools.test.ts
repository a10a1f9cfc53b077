import { describe, expect, it } from 'vitest';
import { readExportedTools } from '../src/exported-tools.ts';

describe('a function', () => {
  it('is skipped if its annotations contradict each other, without affecting others', () => {
    const run = (): string => 'x';
    const annotations = { readOnlyHint: true, destructiveHint: true };
    const exported = {
      default: [
        { name: 'torn', run, annotations },
        { name: 'whole', run },
      ],
    };
    const { tools, skipped } = readExportedTools(exported, undefined);
    expect([...tools.keys()]).toEqual(['whole']);
    expect(skipped).toEqual([
      {
        what: 'default[0]',
        why: 'has annotations that contradict each other: readOnlyHint and destructiveHint are both true; set one of them to false',
      },
    ]);
  });
});
