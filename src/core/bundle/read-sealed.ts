import { complainAt, fitTextAt, memberAt, type Place } from '../json-place.ts';
import type { SealedText } from './bundle.ts';
import { onlyMembers } from './only-members.ts';

/** What a reader pays for at most: 128·N·r bytes of memory, p times the work (RFC 7914, section 6). */
const MOST_BYTES = 128 * 2 ** 20;
const MOST_PARALLEL = 4;
const LEAST_N = 2 ** 14;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The sealed secrets of a bundle. Whoever wrote the file must not choose how much memory opening it takes. */
export function readSealed(place: Place): SealedText {
  onlyMembers(place, ['kdf', 'N', 'r', 'p', 'salt', 'nonce', 'data']);
  const at = (name: string): Place => memberAt(place, name);
  if (at('kdf').value !== 'scrypt') complainAt(at('kdf'), 'it must be "scrypt"');
  const r = wholeAt(at('r'), { least: 1, most: 32 });
  const cost = wholeAt(at('N'), { least: LEAST_N, most: MOST_BYTES / 128 });
  if (!Number.isInteger(Math.log2(cost))) complainAt(at('N'), 'it must be a power of two');
  else if (128 * cost * r > MOST_BYTES) complainAt(at('N'), 'with this r it takes more than 128 MiB');
  return {
    kdf: 'scrypt',
    N: cost,
    r,
    p: wholeAt(at('p'), { least: 1, most: MOST_PARALLEL }),
    salt: fitTextAt(at('salt'), bytesFault(16, 64)),
    nonce: fitTextAt(at('nonce'), bytesFault(12, 12)),
    data: fitTextAt(at('data'), bytesFault(16, Infinity)),
  };
}

interface Range {
  readonly least: number;
  readonly most: number;
}

function wholeAt(place: Place, { least, most }: Range): number {
  const { value } = place;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  complainAt(place, `it must be a whole number from ${least} to ${most}`);
  return least;
}

function bytesFault(least: number, most: number): (text: string) => string | undefined {
  return (text) => {
    const size = (text.length / 4) * 3 - (/=*$/.exec(text)?.[0].length ?? 0);
    if (!BASE64.test(text)) return 'it must be in base64';
    return size < least || size > most ? `it has ${size} bytes, which is no size for it` : undefined;
  };
}
