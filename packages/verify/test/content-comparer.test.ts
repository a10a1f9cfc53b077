import { describe, expect, it, onTestFinished } from 'vitest';
import { startConfined } from '@assay-mcp/sandbox/start-confined';
import { ContentComparer } from '../src/state/content-comparer.ts';
import { HARMFUL, HARMLESS } from './hostile-contents.ts';

const open = (limits: { readonly pairMs?: number; readonly allMs?: number } = {}): ContentComparer => {
  const comparer = new ContentComparer(startConfined, limits);
  onTestFinished(() => comparer.close());
  return comparer;
};
const [old, now] = [Buffer.from('{"a":1}'), Buffer.from('{"b":2,"a":1}')];
const KEPT = { format: 'json', isAdditive: true, isTimestamps: false };

describe('contents that a server wrote', () => {
  it('are compared in another process', async () => {
    const comparer = open();
    expect(await comparer.compare(old, now)).toEqual(KEPT);
    expect(await comparer.compare(now, old)).toEqual({ ...KEPT, isAdditive: false });
  });

  for (const [name, contents] of Object.entries(HARMLESS))
    it(`are not evaluated: ${name}`, async () => {
      const { before, after } = contents();
      expect(await open().compare(before, after)).toEqual({
        ...{ format: 'sqlite', isAdditive: true, isTimestamps: false },
      });
    });

  for (const [name, contents] of Object.entries(HARMFUL))
    it(`cannot stop the comparison of the next, or take much memory: ${name}`, async () => {
      const comparer = open({ pairMs: 3_000 });
      const { before, after } = contents();
      expect(await comparer.compare(before, after)).toMatchObject({ format: 'unknown' });
      expect(await comparer.compare(old, now)).toEqual(KEPT);
    });

  it('are not compared once all comparisons together have taken too long', async () => {
    const comparer = open({ allMs: 1 });
    await comparer.compare(old, now);
    expect(await comparer.compare(old, now)).toEqual({
      format: 'unknown',
      why: 'comparing files took longer than 0.001 s',
    });
  });
});
