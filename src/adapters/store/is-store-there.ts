import { join } from 'node:path';
import { isThere } from '../../platform/files.ts';

/** Whether anything can have been stored: in `assay.db` in the home folder, or in an external database. */
export function isStoreThere(home: string, databaseUrl: string | undefined): boolean {
  return databaseUrl !== undefined || isThere(join(home, 'assay.db'));
}
