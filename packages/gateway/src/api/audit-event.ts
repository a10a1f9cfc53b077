import * as z from 'zod';
import { AUDIT_TARGET_KINDS } from '../core/audit-event.ts';
import { type Data, NEXT_CURSOR } from './data.ts';

const ID = z.int().meta({ description: 'Increases by one with each entry.' });

/** A change by an operator or a model. */
const AUDIT_EVENT = z
  .object({
    id: ID,
    at: z.iso.datetime(),
    subject: z
      .string()
      .meta({ description: 'Who did it: the name of a token, or the server whose tool changed.' }),
    action: z.string(),
    target: z.object({ kind: z.enum(AUDIT_TARGET_KINDS), id: z.string(), name: z.string() }),
    before: z.unknown().optional().meta({ description: 'Absent if it did not exist before.' }),
    after: z.unknown().optional().meta({ description: 'Absent if it was deleted.' }),
  })
  .meta({ id: 'AuditEvent' });

const UNREADABLE_AUDIT_EVENT = z
  .object({
    id: ID,
    kind: z.literal('unreadable').meta({
      description: 'Another program changed the event so that it cannot be read, or a newer Assay wrote it.',
    }),
    reason: z.string().meta({ description: 'Which column of its row cannot be read, and why.' }),
  })
  .meta({ id: 'UnreadableAuditEvent' });

export type AuditEvent = Data<typeof AUDIT_EVENT>;

export type UnreadableAuditEvent = Data<typeof UNREADABLE_AUDIT_EVENT>;

export type AuditEntry = AuditEvent | UnreadableAuditEvent;

export const AUDIT_PAGE = z.object({
  activity: z.array(z.union([AUDIT_EVENT, UNREADABLE_AUDIT_EVENT])),
  nextCursor: NEXT_CURSOR,
});

export type AuditPage = Data<typeof AUDIT_PAGE>;
