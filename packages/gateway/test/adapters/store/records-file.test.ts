import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRecordsFile } from '../../../src/adapters/store/records-file.ts';
import { computeShortHash } from '@assay-mcp/kit/digest';
import { tempDir } from '../../../../../test/support/paths.ts';
import { openAt } from '../../../../../test/support/stores.ts';
import {
  equipChange,
  settingChange,
  toolChange,
  toolset,
  toolsetChange,
} from '../../../../../test/support/store-values.ts';

const TOOL = toolChange('a', 'x').record;
const SHOWN = toolsetChange(toolset('shown')).record;
const EQUIPPED = equipChange('shown', 3).record;
/** The part of the store that a first list needs. */
const KEPT = [TOOL, SHOWN, EQUIPPED];
const ALL = [
  ...KEPT,
  toolChange('removed', undefined).record,
  toolsetChange(toolset('other')).record,
  settingChange('limits.drainMs', 5).record,
];

/** A home with a store and the file that a process wrote there. */
async function writtenHome(): Promise<string> {
  const home = tempDir();
  await (await openAt({ home, databaseUrl: undefined })).close();
  const cache = openRecordsFile(home, undefined);
  cache.remember(ALL, () => ALL);
  await cache.flush();
  return home;
}

const recalledIn = async (home: string, databaseUrl?: string): Promise<unknown> =>
  openRecordsFile(home, databaseUrl).recalled;

describe('the records file', () => {
  it('contains what a first list needs: no settings, no removed records, only the equipped toolset', async () => {
    const home = await writtenHome();
    expect(await recalledIn(home)).toEqual(KEPT);
    expect(statSync(join(home, 'records.json')).mode & 0o777).toBe(0o600);
  });

  it('yields no records if there is no store yet, and undefined for another store', async () => {
    expect(await recalledIn(tempDir())).toEqual([]);
    expect(await recalledIn(await writtenHome(), 'postgres://db.example/assay')).toBeUndefined();
  });

  it('yields undefined for a store of an earlier build', async () => {
    const home = await writtenHome();
    const path = join(home, 'records.json');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace(/"store":"\w+"/, `"store":"${computeShortHash('', 16)}"`));
    expect(await recalledIn(home)).toBeUndefined();
  });

  it.each([
    ['truncated', (text: string) => text.slice(0, 40)],
    ['empty', () => ''],
    ['in another format', (text: string) => text.replace('"format":1', '"format":2')],
  ])('counts as absent if it is %s', async (_what, damage) => {
    const home = await writtenHome();
    const path = join(home, 'records.json');
    writeFileSync(path, damage(readFileSync(path, 'utf8')));
    expect(await recalledIn(home)).toBeUndefined();
  });

  it('loses only the records that cannot be read', async () => {
    const home = await writtenHome();
    const path = join(home, 'records.json');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('"kind":"tool","version":1', '"kind":"tool","version":2'));
    expect(await recalledIn(home)).toEqual([SHOWN, EQUIPPED]);
    writeFileSync(
      path,
      text.replace('"records":[', '"records":[null,{"kind":"later","version":1,"id":"x"},'),
    );
    expect(await recalledIn(home)).toEqual(KEPT);
  });
});
