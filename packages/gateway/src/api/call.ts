import * as z from 'zod';
import { ASKED_PER, EFFECTS } from '../core/policy/policy.ts';
import { type Data, NEXT_CURSOR } from './data.ts';
import { mapHints } from './hint.ts';

const ENTRY = {
  id: z.int().meta({ description: 'Increases by one with each entry.' }),
  batch: z
    .object({ chain: z.string(), number: z.int(), hash: z.string() })
    .meta({ description: 'The calls that were written and hashed together with this one.' }),
};

const RECORDED_CALL = z.object({
  ...ENTRY,
  kind: z.literal('call'),
  at: z.iso.datetime().meta({ description: 'When the call ended.' }),
  subject: z.string().meta({ description: 'The name of the token, or `local` without one.' }),
  session: z.string().exactOptional().meta({ description: 'The same for all calls of one session.' }),
  client: z.object({ name: z.string().exactOptional(), version: z.string().exactOptional() }).exactOptional(),
  endpoint: z.string(),
  toolset: z.string().exactOptional(),
  labels: z.array(z.string()).exactOptional(),
  tool: z.object({
    id: z.string().exactOptional(),
    publicName: z.string(),
    namespacedName: z.string().exactOptional(),
    server: z.string().exactOptional(),
    digest: z.string().exactOptional(),
    confirm: z.string().exactOptional(),
  }),
  hints: z
    .object(mapHints(z.object({ value: z.boolean(), reason: z.string() })))
    .exactOptional()
    .meta({
      description: 'The hints at the time of the decision, each with the code of the deciding claim.',
    }),
  decision: z
    .object({
      kind: z.enum(EFFECTS),
      per: z.enum(ASKED_PER).exactOptional(),
      reasons: z.array(z.looseObject({ code: z.string(), text: z.string() })),
    })
    .exactOptional(),
  isAsked: z.literal(false).exactOptional().meta({
    description:
      'Present if `decision` is `ask` and Assay did not ask, because `approvals` is `client`: `decision` says what it would have asked about.',
  }),
  approval: z.object({ id: z.string(), by: z.string(), scope: z.string() }).exactOptional(),
  denial: z
    .object({ id: z.string().exactOptional(), by: z.string(), reason: z.string().exactOptional() })
    .exactOptional()
    .meta({
      description:
        'Who denied the call, and the reason given to the model. Without `id`, the user of the client was asked during the call.',
    }),
  outcome: z.string().meta({
    description: '`ok`, `tool_error`, `error`, `input_required`, or the code of a refusal.',
  }),
  durationMs: z.number(),
  arguments: z
    .object({
      bytes: z.int(),
      form: z.enum(['masked', 'full']),
      isShortened: z.boolean(),
      text: z.string().meta({ description: 'JSON text, or the start of it.' }),
    })
    .exactOptional()
    .meta({
      description:
        'Present if the setting `activity.arguments` enables it and the token has the scope `admin`.',
    }),
});

export type RecordedCall = Data<typeof RECORDED_CALL>;

/** `count` calls since `since` could not be recorded. */
const DROPPED_CALLS = z.object({
  ...ENTRY,
  kind: z.literal('dropped'),
  at: z.iso.datetime(),
  count: z.int(),
  since: z.iso.datetime(),
});

/** A call as recorded, or a gap in the record. Texts from servers and clients are as sent. */
export const CALL = z
  .discriminatedUnion('kind', [
    RECORDED_CALL,
    DROPPED_CALLS,
    z.object({ ...ENTRY, kind: z.literal('unreadable') }),
  ])
  .meta({
    id: 'RecordedCall',
    description:
      '`dropped`: `count` calls since `since` could not be recorded. `unreadable`: somebody changed the entry so that it cannot be read.',
  });

export type Call = Data<typeof CALL>;

export const CALL_PAGE = z.object({ calls: z.array(CALL), nextCursor: NEXT_CURSOR });

export type CallPage = Data<typeof CALL_PAGE>;

/** Numbers of calls, in slots of equal length; the last one ends now. */
export const CALL_COUNTS = z
  .object({
    since: z.iso.datetime(),
    slotMs: z.int(),
    slots: z.array(
      z.object({
        calls: z.int(),
        errors: z.int().meta({ description: 'Calls that ended with an error, including tool errors.' }),
        refused: z.int().meta({ description: 'Calls refused by the policy or by a person.' }),
      }),
    ),
  })
  .meta({ id: 'CallCounts' });

export type CallCounts = Data<typeof CALL_COUNTS>;
