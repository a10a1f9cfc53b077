import type { Era } from '../../protocol/eras.ts';
import type { RequestMessage } from '../../protocol/message.ts';
import type { ListedEntry } from './listing.ts';

/** A call of a tool of Assay's own. */
export interface ConfigurationToolCall {
  readonly message: RequestMessage;
  readonly era: Era;
  /** Whose call it is. */
  readonly subject: string;
}

/** A tool of Assay's own. */
export interface ConfigurationTool extends ListedEntry {
  /** Resolves with the JSON text of the result, which says so where the call failed. */
  call(asked: ConfigurationToolCall): Promise<Buffer>;
}
