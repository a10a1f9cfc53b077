import { describe, expect, it } from 'vitest';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import type { BuiltInCall } from '../../../../src/adapters/sources/built-in-tool.ts';
import { sleep } from '../../../../../../test/support/endings.ts';
import {
  moduleOf,
  openedModule,
  type OpenedModule,
} from '../../../../../../test/support/function-modules.ts';

const TOOLS = {
  progress:
    '({ ms }, ctx) => { const end = Date.now() + ms; let i = 0; while (Date.now() < end) ctx.progress(++i); ctx.progress(-1); return "told"; }',
  logs: '(_, ctx) => { for (let i = 0; i < 5_000; i++) ctx.log("info", i); return "told"; }',
  asks: '(_, ctx) => Promise.all(Array.from({ length: 100 }, (_, i) => ctx.ask({ message: String(i), schema: { type: "object" } }).then(() => "asked", (error) => error.message)))',
  late: `async (_, ctx) => {
    const isAborted = new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
    ctx.progress(1);
    await isAborted;
    globalThis.late = await ctx.ask({ message: 'late', schema: { type: 'object' } }).catch((error) => error.message);
  }`,
  heard: '() => globalThis.late ?? "nothing"',
};
const open = (): OpenedModule => openedModule(moduleOf(TOOLS));

describe('a call', () => {
  it('that floods progress sends 20 notifications at once and 20 per second after that, always ending with the latest', async () => {
    const told: number[] = [];
    const progress: BuiltInCall['progress'] = (one) => told.push(one);
    expect(await open().say('progress', { ms: 1_000 }, { progress })).toBe('told');
    expect(told.length).toBeGreaterThan(20);
    expect(told.length).toBeLessThan(50);
    expect(told.at(-1)).toBe(-1);
  });

  it('that floods logs sends as many, and counts the rest', async () => {
    const told: (readonly [level: string, data: unknown])[] = [];
    const log: BuiltInCall['log'] = (level, data) => told.push([level, data]);
    const startMs = performance.now();
    expect(await open().say('logs', {}, { log })).toBe('told');
    const seconds = Math.ceil((performance.now() - startMs) / 1_000);
    const sent = told.filter(([level]) => level === 'info');
    const leftOut = told.flatMap(([level, data]) => {
      const count = /^(\d+) notes were left out: a call tells 20 a second at most$/.exec(String(data))?.[1];
      return level === 'warning' && count !== undefined ? [Number(count)] : [];
    });
    expect(sent[0]).toEqual(['info', 0]);
    expect(sent.length).toBeLessThanOrEqual(20 * (seconds + 1));
    expect(leftOut.length).toBeGreaterThan(0);
    expect(leftOut.reduce((sum, count) => sum + count, sent.length)).toBe(5_000);
  });

  it('may have eight open questions, and is refused more', async () => {
    let asked = 0;
    const ask: BuiltInCall['ask'] = async () => {
      asked += 1;
      await sleep(100);
      return { ok: true, value: { action: 'decline' } };
    };
    const said = JSON.parse(await open().say('asks', {}, { ask })) as readonly string[];
    expect(asked).toBe(8);
    expect(said.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => 'asked'));
    expect(new Set(said.slice(8))).toEqual(
      new Set(['8 questions of this call are open, and no more may be.']),
    );
  });

  it('gets an immediate answer to its question if it was cancelled', async () => {
    const module = open();
    expect(await module.say('heard')).toBe('nothing');
    const cancellation = new Cancellation();
    const call = { cancellation, progress: () => cancellation.cancel() };
    await expect(module.call('late', {}, call)).rejects.toThrow();
    await expect.poll(() => module.say('heard'), { timeout: 10_000 }).toBe('Cannot ask: the call has ended.');
  });
});
