import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TaskIds } from '../../gateway/ports/sealing.ts';

/** Separates these tags from all others made with the same key. */
const PURPOSE = 'assay task id 1';
const TAG_BYTES = 16;

/**
 * Task ids are `base64url(JSON of server and inner id).base64url(tag)`, where the tag is an HMAC over these and the
 * subject. The first key signs; all keys verify. The ids need no encoding in a header.
 */
export function createSignedTaskIds(keys: readonly [Buffer, ...Buffer[]]): TaskIds {
  const wrapped = (key: Buffer, subject: string, text: string): string => {
    const signed = JSON.stringify([PURPOSE, subject, text]);
    const tag = createHmac('sha256', key).update(signed).digest().subarray(0, TAG_BYTES);
    return `${Buffer.from(text).toString('base64url')}.${tag.toString('base64url')}`;
  };
  return {
    // JSON preserves lone surrogates, which a server may have used in an id.
    wrap: (server, subject, inner) => wrapped(keys[0], subject, JSON.stringify([server, inner])),
    unwrap(given, subject) {
      const text = Buffer.from(given.slice(0, Math.max(given.indexOf('.'), 0)), 'base64url').toString();
      // Compares the whole re-encoded id, so that each id has one spelling only.
      if (!keys.some((key) => isSame(wrapped(key, subject, text), given))) return undefined;
      const [server, inner] = JSON.parse(text) as readonly [string, string]; // the tag proves that we wrote it
      return { server, inner };
    },
  };
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
