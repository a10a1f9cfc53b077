import * as z from 'zod';
import { AUDIT_PAGE, type AuditEntry as Shown, type AuditEvent } from '../../api/audit-event.ts';
import { AUDIT_TARGET_KINDS } from '../../core/audit-event.ts';
import { err, ok } from '@assay-mcp/kit/result';
import type { AuditEntry } from '../../gateway/ports/records.ts';
import type { Identity } from '../../core/subject.ts';
import type { AdminDeps } from './admin-deps.ts';
import { encodeCursor, readCursor } from './paging.ts';
import { toListReply, route, type Route } from './route.ts';
import { hideEventEvidence } from './without-evidence.ts';

const QUERY = z.object({
  targetKind: z.enum(AUDIT_TARGET_KINDS).optional(),
  targetId: z.string().optional(),
});

const EXAMPLE: AuditEvent = {
  id: 17,
  at: '2026-11-22T09:30:00.000Z',
  subject: 'anna',
  action: 'toolset.create',
  target: { kind: 'toolset', id: 'triage', name: 'triage' },
  after: { tools: ['linear.list_issues'] },
};

/** Limits the length of the number in a cursor; event ids are never longer. */
const EVENT_ID = /^\d{1,15}$/;

export function activityRoutes({ store }: Pick<AdminDeps, 'store'>): readonly Route[] {
  const list = route(
    {
      method: 'get',
      path: '/activity',
      id: 'listActivity',
      summary: 'List audit events, newest first',
      isPaged: true,
      query: QUERY,
      answer: {
        about: 'A page of audit events.',
        schema: AUDIT_PAGE,
        example: { activity: [EXAMPLE] },
      },
    },
    async ({ page, query, identity }) => {
      const { limit, cursor } = page;
      const text = cursor === undefined ? undefined : readCursor(cursor);
      if (cursor !== undefined && (text === undefined || !EVENT_ID.test(text)))
        return err({ code: 'CURSOR_INVALID' });
      const before = text === undefined ? undefined : Number(text);
      const events = await store.auditEvents({ ...query, before, limit: limit + 1 });
      if (!events.ok) return events;
      const items = events.value.slice(0, limit);
      const last = items.at(-1);
      const nextCursor = events.value.length > limit && last ? encodeCursor(String(last.id)) : undefined;
      return ok(
        toListReply('activity', { items: items.map((event) => toAuditEntry(event, identity)), nextCursor }),
      );
    },
  );
  return [list];
}

/** An audit event in JSON, as this caller may see it. */
export function toAuditEntry(stored: AuditEntry, identity: Identity): Shown {
  if (stored.kind === 'unreadable') return stored;
  const { id, atMs, subject, action, target, before, after } = hideEventEvidence(identity, stored);
  return { id, at: new Date(atMs).toISOString(), subject, action, target, before, after };
}
