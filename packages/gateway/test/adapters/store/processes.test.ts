import { describe, expect, it } from 'vitest';
import type { StorePart } from '../../../src/gateway/ports/store.ts';
import { until } from '../../../../../test/support/endings.ts';
import { DATABASES, openAt, startProcess, type StoreProcess } from '../../../../../test/support/stores.ts';
import { saveRecords, toolset, toolsetChange, valueOf } from '../../../../../test/support/store-values.ts';

const WRITES = 200;
/** Enough for the notes of both processes, at 50 per tool. */
const TOOLS = 8;

describe.each(DATABASES)('two processes on one store in %s', (_database, newPlace) => {
  it(`lose none of their ${WRITES} concurrent writes each, and are notified of each other's`, async () => {
    const place = await newPlace();
    const parts: readonly StorePart[] = ['records', 'tokens'];
    const processes = parts.map((part) => startProcess(place, 'interleave', part, String(WRITES)));
    await Promise.all(processes.map((one, at) => untilPrinted(one, 'ready', parts[at]!)));
    for (const { child } of processes) child.stdin?.write('go\n');
    await Promise.all(processes.map((one, at) => untilPrinted(one, 'done', parts[at]!)));
    const store = await openAt(place);
    expect(valueOf(await store.settings()).size).toBe(WRITES);
    expect(valueOf(await store.tokens())).toHaveLength(WRITES);
    for (const one of processes) for (const part of parts) await untilPrinted(one, 'heard', part);
    for (const { child } of processes) child.stdin?.end();
    expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual([0, 0]);
  });

  it(`lose none of the ${WRITES} notes that each adds to one toolset concurrently`, async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const tools = Array.from({ length: TOOLS }, (_, at) => ({ namespacedName: `s.tool-${at}` }));
    valueOf(await saveRecords(store, [toolsetChange(toolset('shared', { tools }))]));
    const authors = ['one', 'two'];
    const processes = authors.map((author) => startProcess(place, 'note', author, String(WRITES)));
    await Promise.all(processes.map((one) => untilPrinted(one, 'ready', true)));
    for (const { child } of processes) child.stdin?.write('go\n');
    expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual([0, 0]);
    const [shared] = valueOf(await store.records(0)).records;
    const toolNotes = shared?.kind === 'toolset' ? shared.body?.toolNotes : undefined;
    const names = toolNotes?.flatMap(({ notes }) => notes.map(({ name }) => name));
    const written = authors.flatMap((author) => Array.from({ length: WRITES }, (_, at) => `${author}-${at}`));
    expect(names?.toSorted()).toEqual(written.toSorted());
    // Without a late attempt there was no conflict to test.
    const late = processes.map((one) => Number(/"late","value":(\d+)/.exec(one.lines().join())?.[1]));
    expect(Math.max(...late)).toBeGreaterThan(0);
  });
});

async function untilPrinted(one: StoreProcess, what: string, value: StorePart | true): Promise<void> {
  const line = JSON.stringify({ what, value });
  await until(
    () => `${line} among ${one.lines().join()}`,
    () => (one.lines().includes(line) ? true : undefined),
    30_000,
  );
}
