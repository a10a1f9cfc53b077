import type { Authorizer } from '../../gateway/ports/credentials.ts';
import type { Opening } from './opening.ts';

/** What authorizes the requests of a link; undefined where the config says what to send. */
export async function authorizerOf({ spec, deps, subject }: Opening): Promise<Authorizer | undefined> {
  return deps.credentials?.authorizer(spec, subject);
}
