import * as z from 'zod';
import { AUDIT_TARGET_KINDS } from '../core/audit-event.ts';

const COMMON = {
  v: z.literal(1).meta({ description: 'Version of the format.' }),
  at: z.iso.datetime().meta({ description: 'When it happened.' }),
  instance: z.string().meta({ description: 'Host name and process id of the replica.' }),
};

/** An HTTP request that has ended. */
export const ACCESS_EVENT = z.object({
  ...COMMON,
  event: z.literal('access'),
  requestId: z.string().meta({ description: 'Unique for each request.' }),
  client: z.string().meta({
    description: 'Address of the connection: that of a proxy, if there is one; `local` at the socket.',
  }),
  subject: z.string().optional().meta({ description: 'Absent if the request was not admitted.' }),
  method: z.string().meta({ description: 'HTTP method.' }),
  path: z.string().meta({ description: 'Without the query, up to 1,024 characters.' }),
  status: z.int().meta({ description: 'HTTP status.' }),
  bytes: z.int().meta({ description: 'Sent for the response, with its headers.' }),
  durationMs: z.number().meta({ description: 'Until the response ended; long for a stream.' }),
  isAborted: z
    .literal(true)
    .optional()
    .meta({ description: 'Present if the connection was lost before the response ended.' }),
});

/** A change by an operator, a model or a server, as in the audit log of the store. */
export const CHANGE_EVENT = z.object({
  ...COMMON,
  event: z.literal('change'),
  id: z.int().meta({ description: 'Of the entry in the audit log; the same at all replicas.' }),
  subject: z
    .string()
    .meta({ description: 'The name of a token, `local`, or the server whose tool changed.' }),
  action: z.string().meta({ description: 'Such as `tool.update`.' }),
  target: z
    .object({ kind: z.enum(AUDIT_TARGET_KINDS), id: z.string(), name: z.string() })
    .meta({ description: 'What was changed: `kind`, `id` and `name`.' }),
  changed: z.array(z.string()).meta({
    description: 'Names of the members that differ. Their values are in the audit log (`GET /activity`).',
  }),
});

/** A call of a tool that has ended. */
export const DECISION_EVENT = z.object({
  ...COMMON,
  event: z.literal('decision'),
  subject: z.string(),
  client: z
    .object({ name: z.string().optional(), version: z.string().optional() })
    .optional()
    .meta({ description: 'As the client calls itself.' }),
  endpoint: z.string().meta({ description: 'The endpoint that was called.' }),
  toolset: z.string().optional(),
  labels: z.array(z.string()).optional().meta({ description: 'What the caller had seen before.' }),
  tool: z
    .object({
      publicName: z.string(),
      id: z.string().optional(),
      namespacedName: z.string().optional(),
      server: z.string().optional(),
      digest: z.string().optional(),
      confirm: z.string().optional(),
    })
    .meta({ description: 'Contains only `publicName` if no such tool exists.' }),
  hints: z
    .record(z.string(), z.object({ value: z.boolean(), reason: z.string() }))
    .optional()
    .meta({ description: 'The values that were decided on, each with its origin.' }),
  decision: z
    .looseObject({
      kind: z.enum(['allow', 'ask', 'refuse']),
      reasons: z.array(z.looseObject({ code: z.string() })),
    })
    .optional()
    .meta({ description: 'Absent if there was nothing to decide.' }),
  isAsked: z.literal(false).optional().meta({ description: 'Present if asking was left to the client.' }),
  approval: z
    .object({ id: z.string(), by: z.string(), scope: z.string() })
    .optional()
    .meta({ description: 'The approval that the call was made with.' }),
  denial: z
    .object({ id: z.string().optional(), by: z.string() })
    .optional()
    .meta({ description: 'Who denied the call.' }),
  outcome: z.string().meta({
    description: '`ok`, `tool_error`, `error`, `input_required` or the code of the refusal.',
  }),
  durationMs: z.number(),
});

export const EVENT_LINE = z.discriminatedUnion('event', [ACCESS_EVENT, CHANGE_EVENT, DECISION_EVENT]);
