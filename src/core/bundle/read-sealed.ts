import { addFault, fitTextAt, isGiven, memberAt, type JsonPosition } from '../json-position.ts';
import { wholeNumber } from '../json-reader.ts';
import { ENTRY_KINDS, type SealedText } from './bundle.ts';
import type { EntrySecrets } from './entry-secrets.ts';
import { isJsonObject, parsedJson } from '../json-object.ts';

/** Upper bounds for scrypt: 128·N·r bytes of memory, and p times the work (RFC 7914, section 6). */
const MAX_BYTES = 128 * 2 ** 20;
const MAX_PARALLELISM = 4;
const MIN_N = 2 ** 14;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Reads the sealed secrets of a bundle. The bounds keep a file from choosing how much memory opening it takes. */
export function readSealed(position: JsonPosition): SealedText {
  onlyMembers(position, ['kdf', 'N', 'r', 'p', 'salt', 'nonce', 'data']);
  const at = (name: string): JsonPosition => memberAt(position, name);
  if (at('kdf').value !== 'scrypt') addFault(at('kdf'), 'it must be "scrypt"');
  const r = wholeNumber({ min: 1, max: 32 })(at('r'));
  const cost = wholeNumber({ min: MIN_N, max: MAX_BYTES / 128 })(at('N'));
  if (!Number.isInteger(Math.log2(cost))) addFault(at('N'), 'it must be a power of two');
  else if (128 * cost * r > MAX_BYTES) addFault(at('N'), 'with this r it needs more than 128 MiB');
  return {
    kdf: 'scrypt',
    N: cost,
    r,
    p: wholeNumber({ min: 1, max: MAX_PARALLELISM })(at('p')),
    salt: fitTextAt(at('salt'), bytesFault(16, 64)),
    nonce: fitTextAt(at('nonce'), bytesFault(12, 12)),
    data: fitTextAt(at('data'), bytesFault(16, Infinity)),
  };
}

function bytesFault(min: number, max: number): (text: string) => string | undefined {
  return (text) => {
    const size = (text.length / 4) * 3 - (/=*$/.exec(text)?.[0].length ?? 0);
    if (!BASE64.test(text)) return 'it must be in base64';
    return size < min || size > max ? `it has ${size} bytes, which is not a valid size` : undefined;
  };
}

/** Parses the decrypted secrets of a bundle. Undefined if they have another format. */
export function readEntrySecrets(text: string): readonly EntrySecrets[] | undefined {
  const value = parsedJson(text);
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  return items.every(isEntrySecrets) ? items : undefined;
}

function isEntrySecrets(value: unknown): value is EntrySecrets {
  if (!isJsonObject(value)) return false;
  const { kind, name, place, members } = value;
  return (
    ENTRY_KINDS.some((known) => known === kind) &&
    typeof name === 'string' &&
    typeof place === 'string' &&
    isJsonObject(members)
  );
}

/** Reports an error if the value is not an object, and one for each unknown member. */
export function onlyMembers(position: JsonPosition, known: readonly string[]): void {
  const { value } = position;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    addFault(position, isGiven(position) ? 'it must be an object' : 'it is missing');
    return;
  }
  for (const name of Object.keys(value))
    if (!known.includes(name))
      addFault(memberAt(position, name), `there is no such member; known members are ${known.join(', ')}`);
}
