import * as z from 'zod';
import { APPROVAL_SCOPES } from '../core/approval.ts';
import { HINTS } from '@assay-mcp/kit/hint';
import { type Data, NEXT_CURSOR } from './data.ts';

export const STORED_APPROVAL_STATES = ['pending', 'approved', 'denied', 'used', 'revoked'] as const;

/** A call that waits for approval, or the answer to it. Texts from servers and clients are as sent. */
export const APPROVAL = z
  .object({
    id: z.string(),
    state: z.enum([...STORED_APPROVAL_STATES, 'expired', 'unreadable']).meta({
      description:
        '`used`: the approval was for one call, which has been sent. `unreadable`: another program changed it in the store so that it cannot be read; it permits nothing, and members may be empty.',
    }),
    tool: z.string().meta({ description: 'The public name.' }),
    namespacedName: z.string(),
    title: z.string().exactOptional(),
    server: z.string().meta({ description: 'Empty for Assay’s own tools.' }),
    subject: z.string().meta({ description: 'The caller: the name of a token, or `local`.' }),
    client: z.string().exactOptional().meta({ description: 'The client’s name and version, as JSON text.' }),
    arguments: z.string().meta({
      description:
        'The arguments as JSON text. While the call can be approved, only secrets that Assay knows are masked; later, everything that may be a secret.',
    }),
    isShortened: z.boolean().meta({
      description:
        'Whether `arguments` is incomplete. The list has the first 4,000 characters, a single approval up to 256 KiB.',
    }),
    isMasked: z.boolean().meta({ description: 'Whether something in `arguments` was masked.' }),
    why: z.array(z.string()).meta({
      description: 'Why it waits, and what to know before approving it: sentences for people, none twice.',
    }),
    reasons: z.array(z.looseObject({ code: z.string(), text: z.string() })),
    distrusted: z.string().exactOptional().meta({
      description: 'The server whose hints you would have to trust for Assay to ask less about such calls.',
    }),
    warnings: z.array(z.string()),
    hints: z.array(z.object({ hint: z.enum(HINTS), value: z.boolean(), reason: z.string() })),
    scopes: z.array(z.enum(APPROVAL_SCOPES)).meta({
      description:
        'The scopes that an approver can choose from. `server`: for this session and destination server.',
    }),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso
      .datetime()
      .exactOptional()
      .meta({ description: 'Absent: valid until the definition of the tool changes.' }),
    answeredAt: z.iso.datetime().exactOptional(),
    answeredBy: z.string().exactOptional(),
    scope: z.enum(APPROVAL_SCOPES).exactOptional(),
    reason: z.string().exactOptional().meta({ description: 'The reason given to the model.' }),
  })
  .meta({ id: 'Approval' });

export type Approval = Data<typeof APPROVAL>;

export type ApprovalScope = Approval['scopes'][number];

export const APPROVAL_PAGE = z.object({ approvals: z.array(APPROVAL), nextCursor: NEXT_CURSOR });

export type ApprovalPage = Data<typeof APPROVAL_PAGE>;
