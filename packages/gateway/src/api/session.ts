import * as z from 'zod';
import { SCOPES } from '../core/subject.ts';
import type { Data } from './data.ts';

/** The signed-in user of the admin pages. */
const SESSION_USER = z.object({
  subject: z.string().meta({ description: 'The name of the token, or `operator`.' }),
  scopes: z.array(z.enum(SCOPES)),
});

export type SessionUser = Data<typeof SESSION_USER>;

/** A browser that is signed in to the admin pages. */
const SESSION = SESSION_USER.extend({
  id: z.string(),
  openedBy: z.enum(['link', 'token']),
  createdAt: z.iso.datetime(),
  usedAt: z.iso.datetime().meta({ description: 'Time of the last use, within ten minutes.' }),
  isCurrent: z.boolean().meta({ description: 'Whether it is the session of this request.' }),
}).meta({ id: 'Session' });

export type Session = Data<typeof SESSION>;

export const SESSION_LIST = z.object({ sessions: z.array(SESSION) });

export type SessionList = Data<typeof SESSION_LIST>;
