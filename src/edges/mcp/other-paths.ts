import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { Identity } from '../../core/subject.ts';

/** What answers at all paths that are none of this door's. */
export interface OtherPaths {
  /** Who comes, or why nobody does: what needs no token is its own matter. */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    admitted: Result<Identity, Refusal>,
  ): Promise<void>;
  /** Ends what would last. */
  close(): void;
}
