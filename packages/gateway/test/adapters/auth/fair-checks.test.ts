import { describe, expect, it } from 'vitest';
import { FairChecks } from '../../../src/adapters/auth/jwt-check.ts';

/** Begins a check per source and returns the order in which they got their turns. */
async function orderOf(checks: FairChecks, sources: readonly string[]): Promise<readonly string[]> {
  const order: string[] = [];
  const all = sources.map(async (source) => {
    const isMine = await checks.begin(source.charAt(0));
    order.push(isMine ? source : `${source} dropped`);
    if (isMine) checks.end();
  });
  await Promise.all(all);
  return order;
}

describe('checks of signatures', () => {
  it('take turns by source', async () => {
    const sources = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1'];
    expect(await orderOf(new FairChecks(), sources)).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'a4']);
  });

  it('run one after another', async () => {
    const checks = new FairChecks();
    let running = 0;
    await Promise.all(
      ['a', 'b', 'c'].map(async (source) => {
        await checks.begin(source);
        running += 1;
        expect(running).toBe(1);
        await Promise.resolve();
        running -= 1;
        checks.end();
      }),
    );
    expect(await checks.begin('d')).toBe(true);
  });

  it('are dropped from the source with the most, if too many wait', async () => {
    const sources = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1'];
    const order = await orderOf(new FairChecks(3), sources);
    expect(order.toSorted()).toEqual(['a1', 'a2', 'a3 dropped', 'a4 dropped', 'b1', 'c1']);
  });
});
