import { z } from '@hono/zod-openapi';
import { APPROVAL_SCOPES } from '../../core/approval.ts';
import { HINTS } from '../../core/hints/hint.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Refusal } from '../../core/refusal.ts';
import {
  approveCall,
  type ApprovalView,
  denyCall,
  getApproval,
  listApprovals,
  revokeApproval,
} from '../../gateway/services/approvals.ts';
import type { AdminDeps } from './admin-deps.ts';
import { cursorOf, readCursor } from './paging.ts';
import { type Answered, listReply, listSchema, type Reply, route, type Route } from './route.ts';

const STORED_STATES = ['pending', 'approved', 'denied', 'used', 'revoked'] as const;

const APPROVAL = z
  .object({
    id: z.string(),
    state: z.enum([...STORED_STATES, 'expired', 'unreadable']).openapi({
      description:
        '`used`: the approval was for one call, which has been sent. `unreadable`: another program changed it in the store so that it cannot be read; it permits nothing, and members may be empty.',
    }),
    tool: z.string().openapi({ description: 'The public name.' }),
    namespacedName: z.string(),
    title: z.string().optional(),
    server: z.string().openapi({ description: 'Empty for Assay’s own tools.' }),
    subject: z.string().openapi({ description: 'The caller: the name of a token, or `local`.' }),
    client: z.string().optional().openapi({ description: 'The client’s name and version, as JSON text.' }),
    arguments: z.string().openapi({
      description:
        'The arguments as JSON text. While the call can be approved, only secrets that Assay knows are masked; later, everything that may be a secret.',
    }),
    isShortened: z.boolean().openapi({
      description:
        'Whether `arguments` is incomplete. The list has the first 4,000 characters, a single approval up to 256 KiB.',
    }),
    isMasked: z.boolean().openapi({ description: 'Whether something in `arguments` was masked.' }),
    reasons: z.array(z.looseObject({ code: z.string(), text: z.string() })),
    warnings: z.array(z.string()),
    hints: z.array(z.object({ hint: z.enum(HINTS), value: z.boolean(), reason: z.string() })),
    scopes: z.array(z.enum(APPROVAL_SCOPES)).openapi({
      description:
        'The scopes that an approver can choose from. `server`: for this session and destination server.',
    }),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso
      .datetime()
      .optional()
      .openapi({ description: 'Absent: valid until the definition of the tool changes.' }),
    answeredAt: z.iso.datetime().optional(),
    answeredBy: z.string().optional(),
    scope: z.enum(APPROVAL_SCOPES).optional(),
    reason: z.string().optional().openapi({ description: 'The reason given to the model.' }),
  })
  .openapi('Approval');

const APPROVE_INPUT = z.object({ scope: z.enum(APPROVAL_SCOPES).default('once') }).openapi('ApproveInput');

const MAX_REASON_LENGTH = 500;

const DENY_INPUT = z
  .object({ reason: z.string().min(1).max(MAX_REASON_LENGTH).optional() })
  .openapi('DenyInput');

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
      query: z.object({ state: z.enum(STORED_STATES).optional() }),
      answer: { about: 'A page of approvals.', schema: listSchema('approvals', APPROVAL) },
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
      const nextCursor = isMore ? cursorOf(`${Date.parse(last.createdAt)} ${last.id}`) : undefined;
      return ok(listReply('approvals', { items, nextCursor }));
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
      body: { schema: APPROVE_INPUT, wrapper: 'approval', examples: { 'this call': { scope: 'once' } } },
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
        wrapper: 'approval',
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

async function one(work: Promise<Result<ApprovalView, Refusal>>): Promise<Awaited<Answered>> {
  const done = await work;
  return done.ok ? ok<Reply>({ kind: 'one', body: done.value }) : done;
}
