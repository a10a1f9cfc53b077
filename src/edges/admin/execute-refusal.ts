import type { Refusal } from '../../core/refusal.ts';
import { allows } from '../../core/subject.ts';
import type { AdminDeps } from './admin-deps.ts';
import type { Call } from './route.ts';

/** Why somebody may add no command, no module and no document in a file; undefined: he may. */
export function executeRefusal(
  { mayExecute }: AdminDeps,
  { identity }: Pick<Call<unknown, unknown>, 'identity'>,
): Refusal | undefined {
  if (!allows(identity, 'execute')) return { code: 'SCOPE_MISSING', scope: 'execute' };
  return mayExecute ? undefined : { code: 'EXECUTE_OFF' };
}
