import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { PrivateLink } from '../catalog/private-link.ts';
import { waitForLimit, type Patience } from '../catalog/private-links.ts';
import type { Reply } from '../ports/link.ts';
import type { TwinCall, TwinDenials } from '../catalog/twin-denials.ts';

/** Its turn on a twin whose changes are discarded; on any other link, calls do not wait for each other. */
interface Turn {
  readonly own: PrivateLink;
  readonly endTurn: () => void;
}

/** How often a twin is started again for one call, because it has ended or because files have changed. */
const MAX_RENEWALS = 3;
/** After so many renewals because of changed files, a twin is used as it is: they change all the time. */
const MAX_OUTDATED = 2;

/**
 * Takes a link. A twin whose changes are discarded may not see what has changed in its folders since it was started, so
 * it is then replaced by a new one. Its calls follow one another, so that each change belongs to one of them. All of
 * this is within the time limit of the call. Errors: those of `take`; SERVER_UNREACHED if each new twin has ended;
 * SERVER_UNAVAILABLE if earlier calls take too long; CANCELLED.
 */
export async function takeCurrent(
  take: (patience: Patience) => Promise<Result<PrivateLink, Refusal>>,
  { server, timeoutMs, cancellation }: Patience & { readonly server: string },
): Promise<Result<Turn, Refusal>> {
  const endMs = performance.now() + timeoutMs;
  let outdated = 0;
  for (let renewals = 0; ; renewals += 1) {
    const patience = { timeoutMs: Math.max(endMs - performance.now(), 0), cancellation };
    const taken = await take(patience);
    if (!taken.ok) return taken;
    const own = taken.value;
    if (own.link?.discarded === undefined) return ok({ own, endTurn: () => undefined });
    const left = { timeoutMs: Math.max(endMs - performance.now(), 0), cancellation };
    const turn = await takeTurn(own, left, outdated < MAX_OUTDATED);
    if ('isLate' in turn) {
      own.release();
      const cause = { code: 'SERVER_NOT_READY' } as const;
      return err(turn.isLate ? { code: 'SERVER_UNAVAILABLE', server, cause } : { code: 'CANCELLED' });
    }
    if (!own.hasEnded && !turn.isOutdated) return ok({ own, endTurn: turn.endTurn });
    if (turn.isOutdated) outdated += 1;
    turn.endTurn();
    own.release();
    await own.close({ code: 'LINK_CLOSED' });
    if (renewals === MAX_RENEWALS)
      return err({ code: 'SERVER_UNREACHED', server, cause: own.ending ?? { code: 'LINK_CLOSED' } });
  }
}

/** Waits for a turn on a twin, and says whether files have changed since the twin was started. */
async function takeTurn(
  own: PrivateLink,
  patience: Patience,
  isChecked: boolean,
): Promise<{ readonly endTurn: () => void; readonly isOutdated: boolean } | { readonly isLate: boolean }> {
  const wait = { isOver: false };
  const taking = own.takeTurn().then(async (endTurn) => {
    const files = wait.isOver || own.hasEnded || !isChecked ? undefined : own.link?.discarded;
    return { endTurn, isOutdated: (await files?.isOutdated()) === true };
  });
  const turn = await Promise.race([taking, waitForLimit(patience, taking)]);
  if (!('isLate' in turn)) return turn;
  // The calls behind it wait for it.
  wait.isOver = true;
  void taking.then(({ endTurn }) => endTurn());
  return turn;
}

/**
 * The answer, or SANDBOX_DENIED if the call has changed files in a twin whose changes are discarded: then the answer is
 * not true, and the twin shows files that do not exist.
 */
export async function checkDiscarded(
  call: TwinCall,
  reply: Result<Reply, Refusal>,
  { own, denials }: { readonly own: PrivateLink; readonly denials: TwinDenials | undefined },
): Promise<Result<Reply, Refusal>> {
  const files = own.link?.discarded;
  if (files === undefined) return reply;
  const { changes, isComplete } = await files.look();
  const hasChanged = changes.length > 0 || (!isComplete && reply.ok);
  // A tool that did not answer in time may still be at work, and would change files during the next call.
  if (hasChanged || !reply.ok) void own.close({ code: 'LINK_CLOSED' });
  if (!hasChanged) return reply;
  const { spec, definition, rights } = call;
  const denial = { kind: 'write', target: changes[0]?.path } as const;
  denials?.discarded(call);
  return err({ code: 'SANDBOX_DENIED', server: spec.name, tool: definition.key ?? '', rights, denial });
}
