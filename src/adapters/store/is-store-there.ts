import { join } from 'node:path';
import { isThere } from '../../platform/files.ts';

/** Whether anything can have been stored: in `assay.db` in the home folder, or in an external database. */
export async function isStoreThere(home: string, databaseUrl: string | undefined): Promise<boolean> {
  return databaseUrl !== undefined || (await isThere(join(home, 'assay.db')));
}
