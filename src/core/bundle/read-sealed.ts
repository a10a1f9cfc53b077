import { addFault, type Fault, readMemberAt } from '../json-position.ts';
import {
  anything,
  fitText,
  list,
  object,
  oneOf,
  openObject,
  type Reader,
  record,
  text,
  wholeNumber,
} from '../json-reader.ts';
import { ENTRY_KINDS, type SealedText } from './bundle.ts';
import type { EntrySecrets } from './entry-secrets.ts';
import { parseJson } from '../json-object.ts';

/** Upper bounds for scrypt: 128·N·r bytes of memory, and p times the work (RFC 7914, section 6). */
const MAX_BYTES = 128 * 2 ** 20;
const MAX_PARALLELISM = 4;
const MIN_N = 2 ** 14;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const whole = object<SealedText>({
  kdf: oneOf(['scrypt']),
  N: wholeNumber({ min: MIN_N, max: MAX_BYTES / 128 }),
  r: wholeNumber({ min: 1, max: 32 }),
  p: wholeNumber({ min: 1, max: MAX_PARALLELISM }),
  salt: fitText(bytesFault(16, 64)),
  nonce: fitText(bytesFault(12, 12)),
  data: fitText(bytesFault(16, Infinity)),
});

/** The sealed secrets of a bundle. The bounds keep a file from choosing how much memory opening it takes. */
export const sealed: Reader<SealedText> = (position) => {
  const read = whole(position);
  const cost = readMemberAt(position, 'N');
  if (!Number.isInteger(Math.log2(read.N))) addFault(cost, 'it must be a power of two');
  else if (128 * read.N * read.r > MAX_BYTES) addFault(cost, 'with this r it needs more than 128 MiB');
  return read;
};

function bytesFault(min: number, max: number): (text: string) => string | undefined {
  return (text) => {
    const size = (text.length / 4) * 3 - (/=*$/.exec(text)?.[0].length ?? 0);
    if (!BASE64.test(text)) return 'it must be in base64';
    return size < min || size > max ? `it has ${size} bytes, which is not a valid size` : undefined;
  };
}

const entrySecrets = list(
  openObject<EntrySecrets>({ kind: oneOf(ENTRY_KINDS), name: text, place: text, members: record(anything) }),
);

/** Parses the decrypted secrets of a bundle. Undefined if they have another format. */
export function readEntrySecrets(secrets: string): readonly EntrySecrets[] | undefined {
  const faults: Fault[] = [];
  const read = entrySecrets({ value: parseJson(secrets), pointer: '', faults });
  return faults.length === 0 ? read : undefined;
}
