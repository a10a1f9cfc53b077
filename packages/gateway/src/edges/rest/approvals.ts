import * as z from 'zod';
import { APPROVAL, type Approval, APPROVAL_PAGE, STORED_APPROVAL_STATES } from '../../api/approval.ts';
import { APPROVAL_SCOPES } from '../../core/approval.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Refusal } from '../../core/refusal.ts';
import {
  approveCall,
  denyCall,
  getApproval,
  listApprovals,
  revokeApproval,
} from '../../gateway/services/approvals.ts';
import type { AdminDeps } from './admin-deps.ts';
import { encodeCursor, readCursor } from './paging.ts';
import { type Answered, toListReply, type Reply, route, type Route } from './route.ts';

const APPROVE_INPUT = z
  .object({ scope: z.enum(APPROVAL_SCOPES).default('once') })
  .meta({ id: 'ApproveInput' });

const MAX_REASON_LENGTH = 500;

const DENY_INPUT = z
  .object({ reason: z.string().min(1).max(MAX_REASON_LENGTH).optional() })
  .meta({ id: 'DenyInput' });

/** The valid content of a cursor: a time in ms and an id. */
const CURSOR = /^(\d{1,16}) ([\w-]{1,64})$/;

const FAULTS = ['APPROVAL_UNKNOWN', 'APPROVAL_CLOSED'] as const;

type ApprovalDeps = Pick<AdminDeps, 'store'>;

export function approvalRoutes(deps: ApprovalDeps): readonly Route[] {
  return [listRoute(deps), getRoute(deps), approveRoute(deps), denyRoute(deps), revokeRoute(deps)];
}

function listRoute({ store }: ApprovalDeps): Route {
  return route(
    {
      method: 'get',
      path: '/approvals',
      id: 'listApprovals',
      summary: 'List pending and answered approvals, newest first',
      scope: 'admin',
      isPaged: true,
      query: z.object({ state: z.enum(STORED_APPROVAL_STATES).optional() }),
      answer: { about: 'A page of approvals.', schema: APPROVAL_PAGE },
    },
    async ({ page: { limit, cursor }, query }) => {
      const [, createdMs, id] =
        CURSOR.exec((cursor === undefined ? undefined : readCursor(cursor)) ?? '') ?? [];
      if (cursor !== undefined && id === undefined) return err({ code: 'CURSOR_INVALID' });
      const before = id === undefined ? undefined : { createdMs: Number(createdMs), id };
      const found = await listApprovals(store, { ...query, before, limit: limit + 1 }, Date.now());
      if (!found.ok) return found;
      const items = found.value.slice(0, limit);
      const last = items.at(-1);
      const isMore = found.value.length > limit && last !== undefined;
      const nextCursor = isMore ? encodeCursor(`${Date.parse(last.createdAt)} ${last.id}`) : undefined;
      return ok(toListReply('approvals', { items, nextCursor }));
    },
  );
}

function getRoute({ store }: ApprovalDeps): Route {
  return route(
    {
      method: 'get',
      path: '/approvals/{id}',
      id: 'getApproval',
      summary: 'Get an approval, with all arguments',
      scope: 'admin',
      answer: { about: 'The approval.', schema: APPROVAL },
      refusals: ['APPROVAL_UNKNOWN'],
    },
    ({ param }) => one(getApproval(store, param('id'), Date.now())),
  );
}

function approveRoute({ store }: ApprovalDeps): Route {
  return route(
    {
      method: 'post',
      path: '/approvals/{id}/approve',
      id: 'approveCall',
      summary: 'Approve a call',
      about:
        'A waiting call continues at once; otherwise the same call is allowed when the client repeats it. Callers cannot approve their own calls, except for calls that a person runs on the admin pages.',
      body: { schema: APPROVE_INPUT, examples: { 'this call': { scope: 'once' } } },
      answer: { about: 'The approval.', schema: APPROVAL },
      refusals: [...FAULTS, 'APPROVAL_OWN', 'APPROVAL_ONCE_ONLY', 'APPROVAL_SCOPE_INVALID'],
    },
    ({ param, body: { scope }, identity: { subject, sessionId } }) =>
      one(approveCall({ id: param('id'), scope }, { store, subject, sessionId, nowMs: Date.now() })),
  );
}

function denyRoute({ store }: ApprovalDeps): Route {
  return route(
    {
      method: 'post',
      path: '/approvals/{id}/deny',
      id: 'denyCall',
      summary: 'Deny a call',
      about:
        'The reason is shown to the model. Identical calls are denied as well, for as long as the approval would have been valid.',
      body: {
        schema: DENY_INPUT,
        examples: { 'with a reason': { reason: 'not on Friday' } },
      },
      answer: { about: 'The approval.', schema: APPROVAL },
      refusals: [...FAULTS, 'APPROVAL_OWN'],
    },
    ({ param, body: { reason }, identity: { subject, sessionId } }) =>
      one(denyCall({ id: param('id'), reason }, { store, subject, sessionId, nowMs: Date.now() })),
  );
}

function revokeRoute({ store }: ApprovalDeps): Route {
  return route(
    {
      method: 'delete',
      path: '/approvals/{id}',
      id: 'revokeApproval',
      summary: 'Revoke an approval',
      answer: { status: 204, about: 'The approval is revoked.' },
      refusals: [...FAULTS],
    },
    async ({ param, identity: { subject } }) => {
      const done = await revokeApproval(param('id'), { store, subject, nowMs: Date.now() });
      return done.ok ? ok({ kind: 'none' }) : done;
    },
  );
}

async function one(work: Promise<Result<Approval, Refusal>>): Promise<Awaited<Answered>> {
  const done = await work;
  return done.ok ? ok<Reply>({ kind: 'one', body: done.value }) : done;
}
