import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TaskIds } from '../../gateway/ports/task-ids.ts';

/** Separates these tags from all others that the same key may make. */
const PURPOSE = 'assay task id 1';
const TAG_BYTES = 16;

/**
 * Task ids as `base64url(JSON of server and inner id).base64url(tag)`, where the tag is an HMAC over these and the subject.
 * The first key wraps; what any of them has wrapped is known. They need no encoding in a header.
 */
export function signedTaskIds(keys: readonly [Buffer, ...Buffer[]]): TaskIds {
  const wrapped = (key: Buffer, subject: string, text: string): string => {
    const signed = JSON.stringify([PURPOSE, subject, text]);
    const tag = createHmac('sha256', key).update(signed).digest().subarray(0, TAG_BYTES);
    return `${Buffer.from(text).toString('base64url')}.${tag.toString('base64url')}`;
  };
  return {
    // As JSON also half of a surrogate pair, which a server may have written, comes back as it was.
    wrap: (server, subject, inner) => wrapped(keys[0], subject, JSON.stringify([server, inner])),
    unwrap(given, subject) {
      const text = Buffer.from(given.slice(0, Math.max(given.indexOf('.'), 0)), 'base64url').toString();
      // Made again and compared whole, so that each id has one spelling.
      if (!keys.some((key) => isSame(wrapped(key, subject, text), given))) return undefined;
      const [server, inner] = JSON.parse(text) as readonly [string, string]; // ours, as the tag proves
      return { server, inner };
    },
  };
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
