import * as z from 'zod';
import { CONFIRMS } from '../core/confirm.ts';
import { HINTS } from '@assay-mcp/kit/hint';
import { ASKED_PER, EFFECTS, SESSION_LABELS } from '../core/policy/policy.ts';
import type { Data } from './data.ts';

/** The decision about a call of a tool, and everything that it is based on. */
export const DECISION = z
  .object({
    tool: z.string(),
    namespacedName: z.string(),
    decision: z.enum(EFFECTS),
    per: z.enum(ASKED_PER).exactOptional().meta({
      description:
        'Whether every call needs an approval, or only the first of a session, of the tool or to its server.',
    }),
    isCarriedOut: z.boolean().meta({ description: 'Whether such a call would be sent now.' }),
    reasons: z
      .array(z.looseObject({ code: z.string(), text: z.string() }))
      .meta({ description: 'The first entry is decisive.' }),
    warnings: z.array(z.string()).meta({ description: 'Warnings to show before an approval.' }),
    hints: z.array(
      z.object({
        hint: z.enum(HINTS),
        value: z.boolean().meta({ description: 'The value used for decisions.' }),
        isKnown: z
          .boolean()
          .meta({ description: 'Whether the value comes from a trusted source or an operator.' }),
        reason: z.string(),
        reasonCode: z.string(),
      }),
    ),
    rules: z.array(z.object({ rule: z.string(), effect: z.enum(EFFECTS), applies: z.boolean() })),
    labels: z
      .array(z.enum(SESSION_LABELS))
      .meta({ description: 'Labels of the content that the caller has received.' }),
    tags: z.array(z.string()).meta({ description: 'Tags of the tool and of its gateway.' }),
    confirm: z
      .enum([...CONFIRMS, 'suspended'])
      .exactOptional()
      .meta({ description: 'The setting of the tool.' }),
    preferences: z
      .object({
        approvals: z.enum(['client', 'gateway']),
        approver: z.enum(['by_transport', 'client', 'inbox']),
        autoApproveReadOnly: z.boolean(),
        alwaysConfirmDestructive: z.boolean(),
        showWarnings: z.boolean(),
        unannotated: z.enum(['worst_case', 'ask', 'refuse']),
        confirm: z.enum(CONFIRMS),
        outbound: z.enum(EFFECTS),
        isOutboundChosen: z.boolean(),
        trustObservations: z.boolean(),
      })
      .exactOptional()
      .meta({ description: 'Absent if the store could not be read.' }),
  })
  .meta({ id: 'Decision' });

export type Decision = Data<typeof DECISION>;
