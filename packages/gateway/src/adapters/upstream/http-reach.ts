import { openSecureContext } from '@assay-mcp/kit/platform/secure-context';
import type { HttpReach } from '@assay-mcp/kit/platform/http-client';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Cause } from '../../core/cause.ts';
import type { TransportOf } from '../../core/server-spec.ts';
import { formatTlsMember } from '../../core/tls-member.ts';
import { toHttpReach, type LinkAttempt } from './opening.ts';

/** Where the connections of a link may lead, with the certificates of its entry. */
export async function openHttpReach(
  opening: LinkAttempt,
  { tls }: TransportOf<'http'>,
): Promise<Result<HttpReach, Cause>> {
  const reach = toHttpReach(opening);
  if (tls === undefined) return ok(reach);
  const secureContext = await openSecureContext(tls);
  if (secureContext.ok) return ok({ ...reach, secureContext: secureContext.value });
  const { file, path, reason } = secureContext.error;
  return err({ code: 'CERTIFICATE_FILE_UNUSABLE', member: formatTlsMember(file), path, reason });
}
