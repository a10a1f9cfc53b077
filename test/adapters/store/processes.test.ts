import { describe, expect, it, vi } from 'vitest';
import type { StorePart } from '../../../src/gateway/ports.ts';
import { until } from '../../support/endings.ts';
import { DATABASES, openAt, startProcess, type StoreProcess } from '../../support/stores.ts';
import { token, valueOf } from '../../support/store-values.ts';

vi.setConfig({ testTimeout: 60_000 });

const WRITES = 200;

describe.each(DATABASES)('two processes on one store in %s', (_database, newPlace) => {
  it(`lose none of ${WRITES} writes that each makes at a time, and hear of each other`, async () => {
    const place = await newPlace();
    const parts: readonly StorePart[] = ['settings', 'tokens'];
    const processes = parts.map((part) => startProcess(place, 'interleave', part, String(WRITES)));
    await Promise.all(processes.map((one) => says(one, 1)));
    for (const { child } of processes) child.stdin?.write('go\n');
    await Promise.all(processes.map((one) => says(one, 2)));
    const store = await openAt(place);
    expect(valueOf(await store.settings()).size).toBe(WRITES);
    expect(valueOf(await store.tokens())).toHaveLength(WRITES);
    // One more of each, so that who was done first also has something to hear.
    valueOf(await store.saveSetting('more', 1));
    valueOf(await store.addToken(token('more')));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    for (const { child } of processes) child.stdin?.end();
    await Promise.all(processes.map(({ ended }) => ended));
    for (const one of processes) expect(one.lines()[2]).toMatch(/settings.*tokens|tokens.*settings/);
  });
});

async function says(one: StoreProcess, lines: number): Promise<void> {
  await until(`it says ${lines} things`, () => (one.lines().length >= lines ? true : undefined), 30_000);
}
