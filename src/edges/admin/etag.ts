import { shortHash } from '../../core/digest.ts';
import type { Refusal } from '../../core/refusal.ts';

/** The strong validator of a representation (RFC 9110, section 8.8.3). */
export function etagOf(representation: unknown): string {
  return `"${shortHash(JSON.stringify(representation), 32)}"`;
}

/** PRECONDITION_FAILED where If-Match names neither this nor `*`; a weak tag never matches (RFC 9110, section 13.1.1). */
export function unmet(ifMatch: string | null, etag: string): Refusal | undefined {
  if (ifMatch === null || ifMatch.trim() === '*' || tagsIn(ifMatch).includes(etag)) return undefined;
  return { code: 'PRECONDITION_FAILED', etag };
}

/** Whether who asks has it already (RFC 9110, section 13.1.2). */
export function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.trim() === '*' || tagsIn(ifNoneMatch.replaceAll('W/', '')).includes(etag);
}

function tagsIn(header: string): readonly string[] {
  return header.split(',').map((tag) => tag.trim());
}
