import { shortenRefusal } from './bounded-refusal.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Refusal } from './refusal.ts';
import { REFUSALS } from './refusals/refusals.ts';

/** One or two sentences: what happened, why, and what to do. Never a secret, never unescaped upstream text. */
export function formatRefusal(refusal: Refusal): string {
  return toPrintable(REFUSALS[refusal.code].sentence(shortenRefusal(refusal) as never));
}
