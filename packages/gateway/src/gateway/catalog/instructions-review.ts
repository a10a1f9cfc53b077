import type { Instructions } from '../../api/instructions.ts';
import type { AuditEvent } from '../../core/audit-event.ts';
import { sha256 } from '@assay-mcp/kit/digest';
import { computeGatewayId } from '../../core/record-ids.ts';
import type { InstructionsRecord, InstructionsText } from '../../core/record.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../core/sentences.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import { getServerIds } from './tool-claims.ts';
import type { Log } from '../ports/log.ts';
import type { Edit } from './record-edit.ts';
import type { RecordReplica } from './record-replica.ts';

export interface InstructionsReviewOptions {
  readonly records: RecordReplica;
  readonly log: Log;
  readonly nowMs: () => number;
}

/** For a server without instructions: if it gives some later, that counts as a change. */
const NONE: InstructionsText = { digest: sha256(''), text: '' };

export interface InstructionsReviewer {
  readonly subject: string;
  /** Returns a refusal if the text is not the one the reviewer saw. Absent: the server's current text is accepted. */
  readonly objection?: ((view: Instructions) => Refusal | undefined) | undefined;
}

const NOT_COMPARED =
  'the instructions of a server could not be compared; models get those that were accepted';

/**
 * Holds servers to their accepted instructions: the first text seen, or the one an operator last reviewed. Trust does
 * not matter here: people must read what models are told to do.
 */
export class InstructionsReview {
  readonly #options: InstructionsReviewOptions;

  /** Texts seen first, by server id, until they are stored. */
  readonly #first = new Map<string, InstructionsText>();
  readonly #storing = new Set<Promise<void>>();

  constructor(options: InstructionsReviewOptions) {
    this.#options = options;
  }

  /** The text that models may get: the accepted one. Undefined if none is known. */
  passed(spec: ServerSpec, now: InstructionsText | undefined): string | undefined {
    if (now === undefined) return undefined;
    const accepted = this.stateOf(spec)?.accepted ?? this.#first.get(getServerIds(spec).serverId);
    // The accepted text may have been truncated under another limit.
    if (accepted?.digest === now.digest) return now.text;
    return accepted?.text === NONE.text ? undefined : accepted?.text;
  }

  stateOf(spec: ServerSpec): InstructionsRecord | undefined {
    return this.#options.records.get('instructions', getServerIds(spec).serverId);
  }

  /**
   * Records the server's current text, if any. Resolves once it is stored: as accepted if it is the first, otherwise as
   * a change.
   */
  saw(spec: ServerSpec, now: InstructionsText = NONE): Promise<void> {
    const storing = this.#store(spec, now).finally(() => this.#storing.delete(storing));
    this.#storing.add(storing);
    return storing;
  }

  /** Resolves when all that was seen so far is stored. */
  async allSettled(): Promise<void> {
    await Promise.all(this.#storing);
  }

  async #store(spec: ServerSpec, now: InstructionsText): Promise<void> {
    if (isSettled(this.stateOf(spec), now)) return;
    const { log, records } = this.#options;
    const id = getServerIds(spec).serverId;
    try {
      const ready = await records.readyLater();
      if (!ready.ok && ready.error.code === 'SHUTTING_DOWN') return;
      if (ready.ok && this.stateOf(spec) === undefined && !this.#first.has(id)) this.#first.set(id, now);
      const kept = await records.change(() => this.#seen(spec, now));
      if (!kept.ok) log.warn(NOT_COMPARED, { server: spec.name, cause: formatRefusal(kept.error) });
    } catch (error) {
      log.error(NOT_COMPARED, { server: spec.name, error: String(error) });
    } finally {
      this.#first.delete(id);
    }
  }

  /** Undefined if this server never gave instructions. */
  viewOf(spec: ServerSpec): Instructions | undefined {
    const state = this.stateOf(spec);
    return state !== undefined && hasText(state) ? toView(state) : undefined;
  }

  /** Accepts the server's current text. INSTRUCTIONS_ABSENT if it never gave one, or the reviewer's objection. */
  accept(
    spec: ServerSpec,
    { subject, objection }: InstructionsReviewer,
  ): Promise<Result<Instructions, Refusal>> {
    return this.#options.records.change<Instructions>(() => {
      const before = this.stateOf(spec);
      if (before === undefined || !hasText(before))
        return err({ code: 'INSTRUCTIONS_ABSENT', server: spec.name });
      const refusal = objection?.(toView(before));
      if (refusal !== undefined) return err(refusal);
      if (before.changed === undefined) return ok({ value: toView(before), changes: [] });
      const { changed, ...rest } = before;
      const after: InstructionsRecord = { ...rest, accepted: { digest: changed.digest, text: changed.text } };
      const event = this.#event(spec, 'instructions.review', { subject, before, after });
      const { changes } = editOf(spec, after);
      return ok({ value: toView(after), changes, audit: [event] });
    });
  }

  #seen(spec: ServerSpec, now: InstructionsText): Result<Edit<undefined>, Refusal> {
    const before = this.stateOf(spec);
    if (before === undefined)
      return ok(editOf(spec, { server: spec.name, identity: getServerIds(spec).identity, accepted: now }));
    if (isSettled(before, now)) return ok(UNCHANGED);
    const { changed, ...rest } = before;
    if ((changed ?? before.accepted).digest === now.digest)
      return ok(
        editOf(
          spec,
          changed === undefined ? { ...rest, accepted: now } : { ...rest, changed: { ...changed, ...now } },
        ),
      );
    const isBack = before.accepted.digest === now.digest;
    const after: InstructionsRecord = isBack
      ? rest
      : { ...rest, changed: { ...now, sinceMs: this.#options.nowMs() } };
    const event = this.#event(spec, isBack ? 'instructions.undrift' : 'instructions.drift', {
      subject: `server:${spec.name}`,
      before,
      after,
    });
    this.#options.log.warn(
      isBack
        ? 'the instructions of a server are again the text that was accepted'
        : 'the instructions of a server have changed and wait for a review; models get the accepted text',
      { server: spec.name },
    );
    return ok(editOf(spec, after, [event]));
  }

  #event(
    spec: ServerSpec,
    action: string,
    {
      subject,
      before,
      after,
    }: Readonly<Record<'before' | 'after', InstructionsRecord>> & { readonly subject: string },
  ): AuditEvent {
    const digests = ({ accepted, changed }: InstructionsRecord): unknown => ({
      accepted: accepted.digest,
      ...(changed && { changed: changed.digest }),
    });
    return {
      atMs: this.#options.nowMs(),
      subject,
      action,
      target: { kind: 'gateway', id: computeGatewayId(spec.name), name: spec.name },
      ...(action !== 'instructions.review' && { peer: 'server' }),
      before: digests(before),
      after: digests(after),
    };
  }
}

const UNCHANGED: Edit<undefined> = { value: undefined, changes: [] };

function editOf(
  spec: ServerSpec,
  body: InstructionsRecord,
  audit: readonly AuditEvent[] = [],
): Edit<undefined> {
  const change = { kind: 'instructions', id: getServerIds(spec).serverId, body } as const;
  return { value: undefined, changes: [change], audit };
}

function hasText({ accepted, changed }: InstructionsRecord): boolean {
  return accepted.text !== NONE.text || changed !== undefined;
}

function toView({ server, accepted, changed }: InstructionsRecord): Instructions {
  const since = changed && new Date(changed.sinceMs).toISOString();
  return {
    gatewayId: computeGatewayId(server),
    serverName: server,
    ...accepted,
    ...(changed && since !== undefined && { drift: { since, digest: changed.digest, text: changed.text } }),
  };
}

/** Whether there is nothing to store. If a server stops giving instructions, models get none. */
function isSettled(state: InstructionsRecord | undefined, now: InstructionsText): boolean {
  if (state === undefined) return false;
  const { digest, text } = state.changed ?? state.accepted;
  const isGone = now.text === NONE.text && state.accepted.text !== NONE.text;
  return isGone || (digest === now.digest && text === now.text);
}
