import type { Log, Mint } from '../../gateway/ports.ts';
import type { Store } from '../../gateway/ports/store.ts';
import type { AssetName } from './docs-pages.ts';

/** What the REST API needs of the rest of the program. */
export interface AdminDeps {
  readonly version: string;
  readonly log: Log;
  readonly store: Store;
  readonly mint: Mint;
  readonly nowMs: () => number;
  /** The text of a file that comes with the program; undefined: it did not come. */
  readonly asset: (name: AssetName) => Promise<string | undefined>;
}
