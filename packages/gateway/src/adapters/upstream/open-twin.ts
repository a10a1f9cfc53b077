import type { Cause } from '../../core/cause.ts';
import { err, type Result } from '@assay-mcp/kit/result';
import type { Link } from '../../gateway/ports/link.ts';
import type { LinkAttempt } from './opening.ts';

/**
 * Starts a twin whose changes of files are refused or, for a server that does not start like that, discarded. Which one
 * a server needs is remembered.
 */
export async function openTwin(
  opening: LinkAttempt,
  open: (opening: LinkAttempt) => Promise<Result<Link, Cause>>,
): Promise<Result<Link, Cause>> {
  const { spec, deps, signal, discards = deps.discarding.has(spec.name) } = opening;
  let refused: Cause | undefined;
  if (!discards) {
    // The second process starts when the first is gone: it may hold a port or a lock.
    const { onEnding: _, ...waiting } = opening;
    const first = await open({ ...waiting, discards: false });
    if (first.ok || signal.aborted || !hasGivenUp(first.error)) return first;
    refused = first.error;
  }
  const second = await open({ ...opening, discards: true });
  if (second.ok) {
    if (second.value.discarded !== undefined) deps.discarding.add(spec.name);
    return second;
  }
  const canDiscard = !isWithoutOverlay(second.error);
  if (!canDiscard && refused === undefined) return open({ ...opening, discards: false });
  const cause = canDiscard ? second.error : (refused ?? second.error);
  return err(hasGivenUp(cause) ? { code: 'TWIN_NOT_STARTED', cause, canDiscard } : cause);
}

/** Whether the process itself gave up, and may run with other rights. One that somebody killed did not. */
function hasGivenUp(cause: Cause): boolean {
  if (cause.code === 'PROCESS_EXITED') return cause.exitCode !== null && cause.exitCode < FIRST_OF_SIGNALS;
  return cause.code === 'STDOUT_CLOSED' || cause.code === 'STDIN_CLOSED';
}

/** The sandbox exits with 128 and the number of the signal that ended its process. */
const FIRST_OF_SIGNALS = 128;

function isWithoutOverlay(cause: Cause): boolean {
  return cause.code === 'SANDBOX_UNAVAILABLE' && cause.gap === 'overlay';
}
