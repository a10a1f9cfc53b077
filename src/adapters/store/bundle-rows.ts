import type { Snapshot } from '../../gateway/ports/bundles.ts';
import type { Trx } from './dialect.ts';
import { readSettings } from './setting-rows.ts';
import { readToolsets } from './toolset-rows.ts';
import { readWords } from './word-rows.ts';

export async function readSnapshot(trx: Trx): Promise<Snapshot> {
  return {
    words: await readWords(trx, 0),
    toolsets: await readToolsets(trx, new Map()),
    settings: await readSettings(trx),
  };
}
