import { join } from 'node:path';
import { isThere } from '../../platform/files.ts';

/** Whether anything can have been kept: in `assay.db` of the home, or in a database elsewhere. */
export async function isStoreThere(home: string, databaseUrl: string | undefined): Promise<boolean> {
  return databaseUrl !== undefined || (await isThere(join(home, 'assay.db')));
}
