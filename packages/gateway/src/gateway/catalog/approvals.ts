import {
  type ApprovalRequest,
  type ApprovalScope,
  closeRequest,
  type ShownArguments,
} from '../../core/approval.ts';
import type { Cancellation } from '@assay-mcp/kit/cancellation';
import { sha256 } from '@assay-mcp/kit/digest';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Settings } from '../../core/settings.ts';
import type {
  ApprovalBinding,
  ApprovalLimits,
  ApprovalStore,
  NewApproval,
  StoredApproval,
} from '../ports/approvals.ts';
import type { Store } from '../ports/store.ts';

type ApprovalsInStore = ApprovalStore & Pick<Store, 'fault' | 'onChange'>;

export interface ApprovalsOptions {
  readonly openStore: () => Promise<Result<ApprovalsInStore, Refusal>>;
  readonly limits: Pick<Settings, 'limits.approvalMs' | 'limits.approvalWaitMs' | 'limits.questionMs'>;
  /** The time in ms since 1970, which all processes on the store share. */
  readonly nowMs: () => number;
  /** Arguments as kept: shortened, with anything masked that may be a secret. */
  readonly shownArguments: (text: string) => ShownArguments;
  /** Arguments as approvers see them. */
  readonly argumentsToApprove: (text: string) => ShownArguments;
  /** Whether the client of this process belongs to the user, as over stdio. */
  readonly isUsersClient: boolean;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const MAX_PENDING = 100;
const MAX_PER_SUBJECT = 2_500;
const MAX_TOTAL = 10_000;
const KEEP_MS = 7 * DAY_MS;
/** Longer than the sealed state of a server is valid. */
const KEPT_STATE_MS = 2 * DAY_MS;
/** While calls wait, the store is read again after this many ms, in case no notice of a change arrives. */
const LOOK_MS = 5_000;

/**
 * The approvals of calls. They are kept in the store, so that any process on it can ask and answer. An approval for one
 * call can be used once.
 */
export class Approvals {
  readonly options: ApprovalsOptions;
  /** Base URL of the admin pages, on which people answer. Undefined if there are none. */
  baseUrl: string | undefined = undefined;
  #store: Promise<Result<ApprovalsInStore, Refusal>> | undefined;
  #endListening: (() => void) | undefined;
  readonly #waiting = new Set<() => void>();
  /** Number of changes noticed so far. */
  #changes = 0;

  constructor(options: ApprovalsOptions) {
    this.options = options;
  }

  /**
   * The approval of such calls for the session, or for good. Undefined if there is none. Read from the store each time,
   * so that a revoked one never counts, even if notices of changes are late or lost.
   */
  grantFor(binding: ApprovalBinding): Promise<Result<StoredApproval | undefined, Refusal>> {
    return this.#find((store) => store.findGrant(binding, this.options.nowMs()));
  }

  /** The same for the approval of all calls to the server in the session that could carry data out. */
  serverGrantFor(binding: ApprovalBinding): Promise<Result<StoredApproval | undefined, Refusal>> {
    return this.#find((store) => store.findServerGrant(binding, this.options.nowMs()));
  }

  async #find(
    find: (store: ApprovalsInStore) => Promise<Result<StoredApproval | undefined, Refusal>>,
  ): Promise<Result<StoredApproval | undefined, Refusal>> {
    const store = await this.#open();
    if (!store.ok) return store;
    // The file of a store that was moved can still be read, but nobody can revoke anything in it.
    const { fault } = store.value;
    return fault === undefined ? find(store.value) : err(fault);
  }

  /** Returns the open approval for the call, or adds a new one to the inbox. Errors: APPROVALS_FULL. */
  async request(
    binding: ApprovalBinding,
    request: ApprovalRequest,
  ): Promise<Result<StoredApproval, Refusal>> {
    const store = await this.#open();
    if (!store.ok) return store;
    return store.value.requestApproval(this.#pending(binding, request), this.#limits);
  }

  /**
   * Waits until an operator approves the call, for at most `limits.approvalWaitMs`. An approval for one call is used
   * up. Refusals: APPROVAL_REQUIRED if there is no answer yet, APPROVAL_DENIED, APPROVALS_FULL, CANCELLED.
   */
  async obtain(
    binding: ApprovalBinding,
    request: ApprovalRequest,
    { cancellation, isSole, onWaiting, onDenied }: Waiter,
  ): Promise<Result<StoredApproval, Refusal>> {
    const store = await this.#open();
    if (!store.ok) return store;
    const { 'limits.approvalWaitMs': waitMs, 'limits.approvalMs': expiryMs } = this.options.limits;
    const deadlineMs = performance.now() + (isSole ? expiryMs : waitMs);
    for (;;) {
      const asked = await this.request(binding, request);
      if (!asked.ok) return asked;
      if (asked.value.state === 'pending') onWaiting(asked.value);
      const settled = await this.#settled(store.value, asked.value, { deadlineMs, cancellation });
      if (!settled.ok) {
        const { id } = asked.value;
        const withdrawn = { id, from: ['pending'], to: 'revoked', nowMs: this.options.nowMs() } as const;
        if (isSole && cancellation.isCancelled) await store.value.changeApproval(withdrawn);
        return settled;
      }
      const approval = settled.value;
      switch (approval?.state) {
        case 'pending':
          return err(required(request, approval.id));
        case 'denied':
          onDenied(approval);
          return err(denied(request, approval));
        case 'approved': {
          if (approval.answer?.scope !== 'once') return ok(approval);
          const used = await this.#use(store.value, approval.id);
          if (!used.ok) return used;
          if (used.value?.state === 'used') return ok(used.value);
          break;
        }
        case 'used':
        case 'revoked':
        case 'unreadable':
        case undefined:
      }
      // Another call used the approval, or it is gone. Ask again.
      if (performance.now() >= deadlineMs) return err(required(request, undefined));
    }
  }

  /**
   * Records what the client's user answered during the call. `id` is new for each question. False if this question
   * already has an answer.
   */
  async record(
    id: string,
    { binding, request, scope, by }: AnsweredInBand,
  ): Promise<Result<boolean, Refusal>> {
    const store = await this.#open();
    if (!store.ok) return store;
    const atMs = this.options.nowMs();
    const { 'limits.approvalMs': approvalMs, 'limits.questionMs': questionMs } = this.options.limits;
    return store.value.addApproval(
      {
        ...{ id, binding, request: closeRequest(request), createdMs: atMs },
        state: scope === 'once' ? 'used' : 'approved',
        // The client can bring its answer back for as long as the question can wait.
        expiresMs: computeExpiry(scope, binding, {
          nowMs: atMs,
          approvalMs: Math.max(approvalMs, questionMs),
        }),
        answer: { scope, by, atMs },
      },
      this.#limits,
      {
        ...{ atMs, subject: by, action: 'approval.approve', peer: 'client' },
        target: { kind: 'approval', id, name: request.namespacedName },
        after: { scope },
      },
    );
  }

  /**
   * Uses up the approval of a call that a client continues after its server asked for input. False if it was used
   * before. `id` is that of the sealed state.
   */
  async use(
    id: string,
    { binding, request }: Pick<AnsweredInBand, 'binding' | 'request'>,
  ): Promise<Result<boolean, Refusal>> {
    const store = await this.#open();
    if (!store.ok) return store;
    const createdMs = this.options.nowMs();
    const expiresMs = createdMs + KEPT_STATE_MS;
    // The request is in the record of the approval itself.
    const used = {
      ...closeRequest(request),
      arguments: '',
      isShortened: true,
      reasons: [],
      warnings: [],
      hints: [],
    };
    return store.value.addApproval(
      { ...{ id, binding, request: used, createdMs, expiresMs }, state: 'used', answer: undefined },
      this.#limits,
    );
  }

  close(): void {
    this.#endListening?.();
    this.#wake();
  }

  get #limits(): ApprovalLimits {
    const nowMs = this.options.nowMs();
    const most = { pendingPerSubject: MAX_PENDING, perSubject: MAX_PER_SUBJECT, total: MAX_TOTAL };
    return { nowMs, ...most, keepMs: KEEP_MS };
  }

  #pending(binding: ApprovalBinding, request: ApprovalRequest): NewApproval {
    const createdMs = this.options.nowMs();
    const expiresMs = createdMs + this.options.limits['limits.approvalMs'];
    const id = createApprovalId();
    return { id, binding, request, state: 'pending', createdMs, expiresMs, answer: undefined };
  }

  /** Undefined if it was removed. */
  async #settled(
    store: ApprovalsInStore,
    first: StoredApproval,
    { deadlineMs, cancellation }: { readonly deadlineMs: number; readonly cancellation: Cancellation },
  ): Promise<Result<StoredApproval | undefined, Refusal>> {
    let approval: StoredApproval | undefined = first;
    let seen = -1;
    while (approval?.state === 'pending') {
      if (cancellation.isCancelled) return err({ code: 'CANCELLED' });
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return ok(approval);
      if (seen === this.#changes) await this.#change(Math.min(leftMs, LOOK_MS), cancellation);
      seen = this.#changes;
      const read = await store.approvals({ ids: [first.id], limit: 1 });
      if (!read.ok) return read;
      approval = read.value[0];
    }
    return ok(approval);
  }

  /** Resolves on the next change of an approval, on cancellation, or when the time is over. */
  async #change(limitMs: number, cancellation: Cancellation): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const wake = (): void => resolve(undefined);
    const timer = setTimeout(wake, limitMs);
    this.#waiting.add(wake);
    try {
      await cancellation.during(wake, promise);
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(wake);
    }
  }

  #use(store: ApprovalsInStore, id: string): Promise<Result<StoredApproval | undefined, Refusal>> {
    return store.changeApproval({ id, from: ['approved'], to: 'used', nowMs: this.options.nowMs() });
  }

  /** After a failure, the next call opens it again. */
  #open(): Promise<Result<ApprovalsInStore, Refusal>> {
    this.#store ??= this.options.openStore().then((store) => {
      if (!store.ok) this.#store = undefined;
      else
        this.#endListening ??= store.value.onChange((parts) => {
          if (!parts.includes('approvals')) return;
          this.#changes += 1;
          this.#wake();
        });
      return store;
    });
    return this.#store;
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

/** A call that waits for approval. */
export interface Waiter {
  readonly cancellation: Cancellation;
  /**
   * Whether only this call can use its approval. It then waits for as long as it can be approved, instead of
   * `limits.approvalWaitMs`, and cancelling it withdraws the request.
   */
  readonly isSole: boolean;
  readonly onWaiting: (approval: StoredApproval) => void;
  readonly onDenied: (approval: StoredApproval) => void;
}

export interface AnsweredInBand {
  readonly binding: ApprovalBinding;
  readonly request: ApprovalRequest;
  readonly scope: ApprovalScope;
  readonly by: string;
}

/** Short enough to type. Ids need not be secret. */
const ID_DIGITS = 12;

export function createApprovalId(): string {
  return crypto.randomUUID().replaceAll('-', '').slice(0, ID_DIGITS);
}

function required({ tool, reasons, warnings }: ApprovalRequest, approval: string | undefined): Refusal {
  return { code: 'APPROVAL_REQUIRED', tool, reasons, warnings, ...(approval !== undefined && { approval }) };
}

function denied({ tool }: ApprovalRequest, { answer }: StoredApproval): Refusal {
  const reason = answer?.reason;
  return { code: 'APPROVAL_DENIED', tool, ...(reason !== undefined && { reason }) };
}

const HOUR_MS = 60 * MINUTE_MS;

/** When an approval given now expires. Undefined: never. */
export function computeExpiry(
  scope: ApprovalScope,
  binding: ApprovalBinding,
  { nowMs, approvalMs }: { readonly nowMs: number; readonly approvalMs: number },
): number | undefined {
  switch (scope) {
    case 'once':
      return nowMs + approvalMs;
    case 'session':
    case 'server':
      return nowMs + (isSessionless(binding) ? HOUR_MS : DAY_MS);
    case 'always':
      return undefined;
  }
}

const SESSIONLESS = 'client ';

/** Stands for the session of a client without one. `clientInfo`: JSON text of its name and version. */
export function computeSessionlessId(clientInfo: string | undefined): string {
  return `${SESSIONLESS}${sha256(clientInfo ?? '')}`;
}

function isSessionless({ session }: ApprovalBinding): boolean {
  return session.startsWith(SESSIONLESS);
}
