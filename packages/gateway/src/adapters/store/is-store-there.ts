import { join } from 'node:path';
import { isThere } from '@assay-mcp/kit/platform/files';

/** Whether anything can have been stored: in `assay.db` in the home folder, or in an external database. */
export function isStoreThere(home: string, databaseUrl: string | undefined): boolean {
  return databaseUrl !== undefined || isThere(join(home, 'assay.db'));
}
