import type { ApprovalScope } from '../../core/approval.ts';
import { sha256 } from '../../core/digest.ts';
import type { ApprovalBinding } from '../ports/approvals.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** When an approval given now expires. Undefined: never. */
export function computeExpiry(
  scope: ApprovalScope,
  binding: ApprovalBinding,
  { nowMs, approvalMs }: { readonly nowMs: number; readonly approvalMs: number },
): number | undefined {
  switch (scope) {
    case 'once':
      return nowMs + approvalMs;
    case 'session':
    case 'server':
      return nowMs + (isSessionless(binding) ? HOUR_MS : DAY_MS);
    case 'always':
      return undefined;
  }
}

const SESSIONLESS = 'client ';

/** Stands for the session of a client without one. `clientInfo`: JSON text of its name and version. */
export function computeSessionlessId(clientInfo: string | undefined): string {
  return `${SESSIONLESS}${sha256(clientInfo ?? '')}`;
}

function isSessionless({ session }: ApprovalBinding): boolean {
  return session.startsWith(SESSIONLESS);
}
