import * as z from 'zod';
import { SESSION_LABELS } from '../core/policy/policy.ts';
import { type Data, NEXT_CURSOR } from './data.ts';

/** What a caller's sessions have received. */
const LABEL = z
  .object({
    subject: z.string().meta({ description: 'Name of a token, an issuer’s subject, or local.' }),
    label: z.enum(SESSION_LABELS),
    source: z.string().meta({
      description: 'What set the label: the namespaced name of a tool, or a server and a method.',
    }),
    since: z.iso.datetime(),
    lastCallAt: z.iso.datetime().meta({ description: 'Time of the last known call, to the minute.' }),
  })
  .meta({ id: 'SessionLabel' });

export type Label = Data<typeof LABEL>;

export const LABEL_PAGE = z.object({ labels: z.array(LABEL), nextCursor: NEXT_CURSOR });
