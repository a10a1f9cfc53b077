import { isCredentialKey } from '@assay-mcp/kit/credential-names';
import { maskShapes } from '@assay-mcp/kit/secret-shapes';

/** A plain `token` may be one of a page or a session. */
const PLAIN_TOKEN = /(?<!access_|refresh_|auth_)token$/;

/**
 * Whether a value looks like a secret. It is then not passed on to other tools: arguments are shown in reports. `member`:
 * the words of the name that the value has, joined by `_`.
 */
export function isSecretValue(value: unknown, member = ''): boolean {
  if (isCredentialKey(member) && !PLAIN_TOKEN.test(member)) return true;
  return typeof value === 'string' && maskShapes(value) !== value;
}
