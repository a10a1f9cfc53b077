import type { ServerSpec } from '../../core/server-spec.ts';
import { answerEmpty, type Askers, EMPTY_CLIENT } from './askers.ts';
import { tell, type SoleClient } from './client-session.ts';
import type { LinkEvents, Opening } from '../ports/link.ts';

/** Who is at the other end of a server's shared link. */
export interface OtherEnd {
  readonly offer: Opening['offer'];
  readonly events: Pick<LinkEvents, 'asked' | 'said'>;
}

const NOBODY: OtherEnd = { offer: undefined, events: {} };
const LISTS: OtherEnd = { offer: EMPTY_CLIENT, events: { asked: answerEmpty } };

/** The only client of the process; else nobody: where each client has a link of its own the shared one is for lists. */
export function otherEnd(
  { name, isolation }: ServerSpec,
  sole: SoleClient | undefined,
  askers: Askers | undefined,
): OtherEnd {
  if (sole === undefined) return isolation === 'session' ? LISTS : NOBODY;
  // A modern client hears nothing that belongs to none of its requests.
  return {
    offer: sole.offer,
    events: { asked: askers?.asked, said: (note) => tell(sole.sessionFor(name), note) },
  };
}
