import { err, type Result } from '../../../core/result.ts';
import type { Secret, SecurityOptions } from './security.ts';
import type { ServerPlace } from './servers.ts';

/**
 * Whoever writes a document chooses its servers, and could have what was given for one API sent to another. So an
 * operator's secrets go where he said himself, where a file of his says, or where the document came from.
 */
export function withheldSecrets(
  secrets: Result<readonly Secret[], string>,
  { url, at }: ServerPlace,
  { documents, headers }: SecurityOptions,
): Result<readonly Secret[], string> {
  const isHis =
    at === undefined || at.startsWith('file:') || url.origin === new URL(documents.root.at).origin;
  const hasNone = secrets.ok && secrets.value.length === 0 && Object.keys(headers).length === 0;
  if (isHis || hasNone || !secrets.ok) return secrets;
  return err(
    `The call was not made: the document sends it to ${url.origin}, where it did not come from, and the credentials and headers of this source were not given for there. An operator who means it says so with "baseUrl".`,
  );
}
