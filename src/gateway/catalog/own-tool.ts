import type { Era } from '../../protocol/eras.ts';
import type { RequestMessage } from '../../protocol/message.ts';
import type { Shown } from './listing.ts';

/** A call of a tool of Assay's own. */
export interface OwnCall {
  readonly message: RequestMessage;
  readonly era: Era;
  /** Whose call it is. */
  readonly subject: string;
}

/** A tool of Assay's own. */
export interface OwnTool extends Shown {
  /** Resolves with the JSON text of the result, which says so where the call failed. */
  call(asked: OwnCall): Promise<Buffer>;
}
