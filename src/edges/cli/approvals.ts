import type { ApprovalScope } from '../../core/approval.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '../../core/result.ts';
import { printable } from '../../core/printable.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import type { Store } from '../../gateway/ports/store.ts';
import {
  approveCall,
  type ApprovalView,
  denyCall,
  getApproval,
  listApprovals,
  revokeApproval,
} from '../../gateway/services/approvals.ts';
import { print, printError, printJson, proseOf, quoted, style } from './output.ts';
import type { Runtime } from './runtime.ts';
import { withOpened } from './with-opened.ts';

interface ApprovalOptions {
  readonly home?: string;
  readonly json?: boolean;
}

export interface ListApprovalsOptions extends ApprovalOptions {
  readonly all?: boolean;
}

export interface ApproveOptions extends ApprovalOptions {
  readonly for: ApprovalScope;
}

export interface DenyOptions extends ApprovalOptions {
  readonly reason?: string;
}

const MAX_LISTED = 1_000;

/** `assay approvals`: the waiting calls, with what a person needs to know to decide. */
export function list(runtime: Runtime, options: ListApprovalsOptions): Promise<number> {
  return withStore(runtime, options, async (store) => {
    const state = options.all === true ? undefined : 'pending';
    const found = await listApprovals(store, { state, limit: MAX_LISTED }, Date.now());
    if (!found.ok) return found;
    const approvals = options.all === true ? found.value : found.value.filter(isShown);
    if (options.json === true) printJson({ approvals });
    else approvals.forEach(show);
    if (approvals.length === 0)
      printError(options.all === true ? 'There are no approvals.' : 'No call waits for approval.');
    return ok(undefined);
  });
}

/** `assay approvals show ID`: one of them, with all arguments. */
export function showOne(runtime: Runtime, id: string, options: ApprovalOptions): Promise<number> {
  return withStore(runtime, options, async (store) => {
    const found = await getApproval(store, id, Date.now());
    if (!found.ok) return found;
    if (options.json === true) printJson(found.value);
    else show(found.value);
    return found;
  });
}

/** `assay approvals approve ID` */
export function approve(runtime: Runtime, id: string, options: ApproveOptions): Promise<number> {
  return answer(runtime, options, {
    run: (store) => approveCall({ id, scope: options.for }, by(store)),
    message: ({ namespacedName }) =>
      `Approved ${quoted(namespacedName)}${EXTENTS[options.for]}. A waiting call continues now.`,
  });
}

/** `assay approvals deny ID` */
export function deny(runtime: Runtime, id: string, options: DenyOptions): Promise<number> {
  return answer(runtime, options, {
    run: (store) => denyCall({ id, reason: options.reason }, by(store)),
    message: ({ namespacedName }) => `Denied the call of ${quoted(namespacedName)}.`,
  });
}

/** `assay approvals revoke ID` */
export function revoke(runtime: Runtime, id: string, options: ApprovalOptions): Promise<number> {
  return answer(runtime, options, {
    run: (store) => revokeApproval(id, by(store)),
    message: ({ namespacedName }) => `Revoked the approval of ${quoted(namespacedName)}.`,
  });
}

const EXTENTS: Readonly<Record<ApprovalScope, string>> = {
  once: ' for this call',
  session: ' for this session',
  server: ' for this session and destination server',
  always: ' until its definition changes',
};

interface AnswerToApproval {
  readonly run: (store: Store) => Promise<Result<ApprovalView, Refusal>>;
  readonly message: (approval: ApprovalView) => string;
}

function answer(
  runtime: Runtime,
  options: ApprovalOptions,
  { run, message }: AnswerToApproval,
): Promise<number> {
  return withStore(runtime, options, async (store) => {
    const done = await run(store);
    if (!done.ok) return done;
    if (options.json === true) printJson(done.value);
    else print(message(done.value));
    return done;
  });
}

function by(store: Store): Parameters<typeof approveCall>[1] {
  return { store, subject: LOCAL_USER.subject, nowMs: Date.now() };
}

function withStore(
  runtime: Runtime,
  options: ApprovalOptions,
  work: (store: Store) => Promise<Result<unknown, Refusal>>,
): Promise<number> {
  return withOpened(runtime.openStore(options), ({ store }) => work(store));
}

/** Those stored as pending may have expired. */
function isShown({ state }: ApprovalView): boolean {
  return state !== 'expired';
}

const UNREADABLE = 'unreadable: another program changed it in the store. It permits nothing.';

function show(approval: ApprovalView): void {
  const { id, state, namespacedName, subject, client, reasons, warnings, createdAt } = approval;
  const { isShortened, isMasked } = approval;
  if (state === 'unreadable') return print(`${id}  ${UNREADABLE}`);
  const indented = (text: string): void => print(proseOf(printable(text), { indent: '  ' }));
  const colour = state === 'pending' ? style.yellow : state === 'approved' ? style.green : style.dim;
  print(`${id}  ${colour(state)}  ${printable(namespacedName)}`);
  indented(`by ${subject}${client === undefined ? '' : `, client ${client}`}, ${createdAt}`);
  const incomplete = [
    ...(isShortened ? [`shortened; assay approvals show ${id}`] : []),
    ...(isMasked ? ['secrets masked'] : []),
  ];
  const note = incomplete.length === 0 ? '' : ` (${incomplete.join('; ')})`;
  indented(`arguments${note}: ${approval.arguments}`);
  if (warnings.length > 0) indented(`note: ${warnings.join('; ')}`);
  indented(`why: ${reasons.map(({ text }) => text).join('; ')}`);
  if (approval.answeredBy !== undefined)
    indented(
      `answered by ${approval.answeredBy}${approval.scope === undefined ? '' : `: ${approval.scope}`}${approval.reason === undefined ? '' : `: ${approval.reason}`}`,
    );
  else if (state === 'pending') {
    indented(`next: assay approvals approve ${id}   or deny ${id}`);
    if (approval.scopes.includes('server'))
      indented(
        `or for this session and destination server ${quoted(approval.server)}: assay approvals approve ${id} --for server`,
      );
  }
}
