import type { UpstreamRequest } from '../../gateway/ports/link.ts';
import type { Era } from '../../protocol/eras.ts';
import type { RequestChange } from '../../protocol/translate.ts';

/** What changes in a request on its way to a server of the era `to`. */
export function changeOf(
  { era: from, name, task, clientInfo, capabilities, requestState, logLevel, trace }: UpstreamRequest,
  { id, to, ownInfo }: { readonly id: number; readonly to: Era; readonly ownInfo: string },
): RequestChange {
  return {
    id,
    from,
    to,
    name,
    task,
    clientInfo: clientInfo ?? ownInfo,
    capabilities,
    requestState,
    logLevel,
    trace,
  };
}
