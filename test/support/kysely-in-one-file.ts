import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/*
 * Preloaded in the test processes. Each thread of a SQLite store would otherwise load Kysely's 300 modules, two thirds
 * of the cost of opening it; the program also has them in one file (docs/adr/0052).
 */
const MODULES = join(import.meta.dirname, '..', '..', 'node_modules');
export const KYSELY: string = join(MODULES, 'kysely', 'dist', 'index.js');
/** Built by `run.ts` before the first test. */
export const KYSELY_IN_ONE_FILE: string = join(MODULES, '.cache', 'assay-test', 'kysely.js');

if (existsSync(KYSELY_IN_ONE_FILE)) {
  const many = pathToFileURL(KYSELY).href;
  const one = pathToFileURL(KYSELY_IN_ONE_FILE).href;
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      return found.url === many ? { ...found, url: one } : found;
    },
  });
}
