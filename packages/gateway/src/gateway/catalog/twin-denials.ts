import { setTimeout as pause } from 'node:timers/promises';
import { OncePerPeriod } from '../../core/once-per-period.ts';
import type { Hint } from '@assay-mcp/kit/hint';
import { computeToolId } from '../../core/record-ids.ts';
import type { ToolRecord } from '../../core/hints/tool-record.ts';
import type { ToolVerification } from '../../core/hints/tool-verification.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { TwinRights } from '@assay-mcp/sandbox/rights';
import {
  type Denial,
  type DenialsOfCall,
  findDenial,
  formatDenial,
  listClearChanges,
  listDenialsSince,
  type ObservedDenial,
} from '@assay-mcp/sandbox/denial';
import type { Cause } from '../../core/cause.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import { findMember, readRawValue } from '@assay-mcp/protocol/spans';
import {
  type Connect,
  type Definition,
  type LinkEvents,
  type UpstreamRequest,
  buildOwnUpstreamRequest,
} from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import { getDigest } from './definition-facts.ts';
import type { RecordReplica } from './record-replica.ts';
import { getServerIds } from './tool-claims.ts';
import { truncateText } from '@assay-mcp/kit/shorten';

/** A call that was sent to a twin. */
export interface TwinCall {
  readonly spec: ServerSpec;
  readonly definition: Definition;
  readonly rights: TwinRights;
  readonly request: Pick<UpstreamRequest, 'message' | 'era' | 'name' | 'clientInfo' | 'parameters'>;
}

export interface TwinDenialsOptions {
  readonly connect: Connect;
  /** Undefined: nothing is kept of what was refused. */
  readonly records: RecordReplica | undefined;
  readonly log: Log;
  /** Masks secrets in a text. */
  readonly mask: (text: string) => string;
  readonly nowMs: () => number;
}

/** Time in ms to start the server once more, to call it, and to wait for what it does after its answer. */
const START_MS = 20_000;
const CALL_MS = 5_000;
const SETTLE_MS = 300;
const LATE_MS = 2_000;
const TRACE_MS = 2_000;
/** Time in ms without a call, in which a server shows what it changes by itself. */
const IDLE_MS = 1_500;
/** A tool is observed again after this time in ms at the earliest. */
const AGAIN_MS = 60_000;
/** The same for one that failed for a reason of its own, as far as its text says. */
const FAILED_AGAIN_MS = 600_000;
const MAX_OBSERVING = 2;
/** Maximum number of destinations noted per tool. */
const MAX_TARGETS = 100;
const MAX_ARGS_LENGTH = 500;

/** How what a call does is seen when it is repeated. */
type Mechanism = 'syscall_trace' | 'overlay';

/** Why a call is repeated: what its server reported, or only that it failed. */
type Occasion = Denial['kind'] | 'failure';

interface Observed {
  readonly atMs: number;
  /** Undefined while it is being observed, or if nothing was refused. */
  readonly denials: Promise<readonly Denial[] | undefined>;
}

/**
 * Finds out what a sandbox refused a tool. A server's error text is only a reason to look: the call is then repeated in
 * a separate sandbox without network, where it can have no effect and its system calls are traced. So there is no cost
 * until something is refused (docs/adr/0071).
 */
export class TwinDenials {
  readonly #options: TwinDenialsOptions;
  readonly #observed = new WeakMap<Definition, Map<Occasion, Observed>>();
  /** The refused destinations of each tool. */
  readonly #refused = new WeakMap<Definition, OncePerPeriod>();
  #observing = 0;

  constructor(options: TwinDenialsOptions) {
    this.#options = options;
  }

  /**
   * Returns what was refused, if a server says that something was. Undefined if that cannot be confirmed. Without
   * strace, the server is believed if its call has failed (`isFailure`).
   */
  async judge(call: TwinCall, reported: Denial, isFailure: boolean): Promise<Denial | undefined> {
    const seen = await this.#observe(call, reported.kind, SETTLE_MS);
    if (seen === undefined) return isFailure ? this.#believe(call, reported) : undefined;
    const fitting = seen.filter(({ kind }) => kind === reported.kind);
    return fitting.find(({ target }) => target === reported.target) ?? fitting[0];
  }

  /** Records a connection that the network gate of a sandbox refused. */
  refused(call: TwinCall, denial: ObservedDenial): void {
    const targets = this.#refused.get(call.definition) ?? new OncePerPeriod(AGAIN_MS, MAX_TARGETS);
    this.#refused.set(call.definition, targets);
    if (targets.admit(denial.target ?? '', denial.atMs) !== undefined)
      void this.#record(call, denial, [denial]);
  }

  /**
   * Finds out whether a call changes files, after something was changed during one in a twin whose changes are discarded:
   * that may have been a late effect of another call, or the server itself.
   */
  discarded(call: TwinCall): void {
    void this.#observe(call, 'write', SETTLE_MS, 'overlay');
  }

  /**
   * Finds out in the background whether a call failed because it was refused a change, which the texts of many libraries
   * do not say. Its answer stays that of its server, which may have failed for another reason too.
   */
  failed(call: TwinCall): void {
    // Failures are frequent; a call that waits for a reported denial to be confirmed comes first.
    if (this.#observing > 0) return;
    void this.#observe(call, 'failure', SETTLE_MS);
  }

  /** Examines why a twin ended while no call was waiting. */
  late(call: TwinCall, cause: Cause): void {
    const reported = 'stderr' in cause && cause.stderr !== undefined && findDenial(cause.stderr, call.rights);
    if (reported)
      void this.#observe(call, reported.kind, LATE_MS).then((seen) => seen ?? this.#believe(call, reported));
  }

  #believe(call: TwinCall, reported: Denial): Denial {
    void this.#record(call, reported, undefined);
    return reported;
  }

  /** Undefined if this cannot be observed on this machine or now. */
  #observe(
    call: TwinCall,
    occasion: Occasion,
    settleMs: number,
    mechanism: Mechanism = 'syscall_trace',
  ): Observed['denials'] {
    const ofTool = this.#observed.get(call.definition) ?? new Map<Occasion, Observed>();
    const known = ofTool.get(occasion);
    const atMs = performance.now();
    const againMs = occasion === 'failure' ? FAILED_AGAIN_MS : AGAIN_MS;
    if (known !== undefined && atMs < known.atMs + againMs) return known.denials;
    if (this.#observing >= MAX_OBSERVING) return Promise.resolve(undefined);
    const denials = this.#observeNow(call, occasion, { settleMs, mechanism });
    this.#observed.set(call.definition, ofTool.set(occasion, { atMs, denials }));
    return denials;
  }

  async #observeNow(
    call: TwinCall,
    occasion: Occasion,
    { settleMs, mechanism }: { readonly settleMs: number; readonly mechanism: Mechanism },
  ): Promise<readonly Denial[] | undefined> {
    this.#observing += 1;
    try {
      const repeat = mechanism === 'overlay' ? repeatDiscarding : repeated;
      const idleMs = occasion === 'failure' || mechanism === 'overlay' ? IDLE_MS : 0;
      const found = await repeat(this.#options.connect, call, { idleMs, settleMs });
      if (!found.ok) return undefined;
      const seen = occasion === 'failure' ? listClearChanges(found.value) : listDenialsSince(found.value);
      const [first] = seen;
      if (first !== undefined) await this.#record(call, first, seen, mechanism);
      return seen;
    } catch {
      return undefined;
    } finally {
      this.#observing -= 1;
    }
  }

  /** Tells the operator, and keeps what the kernel reported as an observed contradiction. */
  async #record(
    call: TwinCall,
    denial: Denial,
    seen: readonly ObservedDenial[] | undefined,
    mechanism: Mechanism = 'syscall_trace',
  ): Promise<void> {
    const { log, records, mask, nowMs } = this.#options;
    const { spec, definition } = call;
    const message = mask(`stopped from ${formatDenial(denial)}`);
    const fields = { server: spec.name, tool: definition.key, isObserved: seen !== undefined };
    log.warn('a read-only tool tried what its sandbox refuses', { ...fields, cause: message });
    const { key: name } = definition;
    if (records === undefined || name === undefined) return;
    const { identity } = getServerIds(spec);
    const id = computeToolId(spec.name, identity, name);
    const atMs = nowMs();
    await records.change(() => {
      const before: ToolRecord = records.get('tool', id) ?? {
        id,
        server: spec.name,
        identity,
        name,
        overrides: {},
      };
      const verification =
        seen && contradictedBy(call, { before: before.verification, seen, atMs, mask, mechanism });
      return ok({
        value: undefined,
        changes: [
          { kind: 'tool', id, body: verification === undefined ? before : { ...before, verification } },
        ],
        audit: [
          {
            atMs,
            subject: 'sandbox',
            action: 'tool.deny',
            peer: 'server',
            target: { kind: 'tool', id, name: `${spec.name}.${name}` },
            after: {
              kind: denial.kind,
              target: denial.target && mask(denial.target),
              isObserved: seen !== undefined,
            },
          },
        ],
      });
    });
  }
}

interface RepeatPace {
  /** Time before the call. */
  readonly idleMs: number;
  /** Time after it. */
  readonly settleMs: number;
}

/** Repeats a call in a separate sandbox, where it can have no effect. */
async function repeated(
  connect: Connect,
  { spec, request }: TwinCall,
  { idleMs, settleMs }: RepeatPace,
): Promise<Result<DenialsOfCall, undefined>> {
  const ended = Promise.withResolvers<undefined>();
  const traced = Promise.withResolvers<readonly ObservedDenial[]>();
  const events: LinkEvents = { ...NO_EVENTS, ended: () => ended.resolve(undefined) };
  const signal = AbortSignal.timeout(START_MS);
  const opening = {
    events,
    signal,
    client: undefined,
    isShared: true,
    rights: 'read',
    onDenials: traced.resolve,
  } as const;
  const opened = await connect(spec, opening);
  if (!opened.ok) return err(undefined);
  await Promise.race([ended.promise, pause(idleMs)]);
  const sentMs = Date.now();
  await Promise.race([
    opened.value.send({ ...buildOwnUpstreamRequest(request.message, CALL_MS), ...request }),
    ended.promise,
  ]);
  await Promise.race([ended.promise, pause(settleMs)]);
  await opened.value.close({ code: 'LINK_CLOSED' });
  const denials = await Promise.race([traced.promise, pause(TRACE_MS)]);
  return denials === undefined ? err(undefined) : ok({ sentMs, denials });
}

/**
 * Repeats a call in a twin of its own whose changes are discarded, and returns what it changed. What the server changes
 * without a call is left out.
 */
async function repeatDiscarding(
  connect: Connect,
  { spec, request }: TwinCall,
  { idleMs, settleMs }: RepeatPace,
): Promise<Result<DenialsOfCall, undefined>> {
  const ended = Promise.withResolvers<undefined>();
  const opened = await connect(spec, {
    events: { ...NO_EVENTS, ended: () => ended.resolve(undefined) },
    signal: AbortSignal.timeout(START_MS),
    ...{ client: undefined, isShared: true, rights: 'read', discards: true },
  });
  if (!opened.ok) return err(undefined);
  const link = opened.value;
  try {
    await pause(idleMs);
    const idle = await link.discarded?.look();
    const atMs = Date.now();
    const asked = { ...buildOwnUpstreamRequest(request.message, CALL_MS), ...request };
    await Promise.race([link.send(asked), ended.promise]);
    await pause(settleMs);
    const looked = await link.discarded?.look();
    if (looked === undefined) return err(undefined);
    const usual = new Set(idle?.changes.map(({ path }) => path));
    const changed = looked.changes.filter(({ path, isCertain }) => isCertain && !usual.has(path));
    return ok({
      sentMs: atMs,
      denials: changed.map(({ path }) => ({ kind: 'write', target: path, atMs })),
    });
  } finally {
    await link.close({ code: 'LINK_CLOSED' });
  }
}

const NO_EVENTS: Omit<LinkEvents, 'ended'> = {
  changed: () => undefined,
  updated: () => undefined,
  missed: () => undefined,
  drained: () => undefined,
};

const HINT_OF: Readonly<Record<Denial['kind'], Hint>> = { write: 'readOnlyHint', connect: 'openWorldHint' };

interface Contradiction {
  readonly before: ToolVerification | undefined;
  readonly seen: readonly ObservedDenial[];
  readonly atMs: number;
  readonly mask: (text: string) => string;
  readonly mechanism: Mechanism;
}

/** Of an open-world tool only changes of files count, because it was repeated without its network. */
function contradictedBy(
  { definition, rights, request: { message } }: TwinCall,
  { before, seen, atMs, mask, mechanism }: Contradiction,
): ToolVerification | undefined {
  const counted = seen.filter(({ kind }) => kind === 'write' || rights === 'read');
  if (counted.length === 0) return undefined;
  const digest = getDigest(definition);
  const member = findMember(message.params, 'arguments');
  const args =
    member === undefined ? '{}' : truncateText(mask(readRawValue(message.bytes, member)), MAX_ARGS_LENGTH);
  const hints = counted.map((denial) => {
    const message = mask(`stopped from ${formatDenial(denial)}`);
    const effect = { effect: 'denied', message, target: mask(denial.target ?? ''), call: 1, args, atMs };
    return [HINT_OF[denial.kind], { kind: 'contradicted', atMs, evidence: [effect] }] as const;
  });
  const known = before?.digest === digest ? before : undefined;
  return {
    digest,
    atMs,
    author: known?.author ?? 'sandbox',
    server: known?.server ?? { name: '', version: '', packageDigest: '' },
    mechanisms: [...new Set([...(known?.mechanisms ?? []), 'enforcement', mechanism])],
    // The first denial of each kind is kept.
    hints: { ...known?.hints, ...Object.fromEntries(hints.toReversed()) },
    ...(known?.keepsState && { keepsState: true }),
  };
}
