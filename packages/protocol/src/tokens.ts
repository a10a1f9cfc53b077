/** The bytes of JSON's punctuation (RFC 8259, section 2). */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** White space between tokens. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/**
 * Where the JSON number or literal starting at `from` ends (RFC 8259, sections 3 and 6); -1 if none starts there. Reads
 * at most `maxDigits` digits in a row.
 */
export function findScalarEnd(bytes: Buffer, from: number, maxDigits: number = Infinity): number {
  switch (bytes[from]) {
    case 0x74:
      return literalEnd(bytes, from, 'true');
    case 0x66:
      return literalEnd(bytes, from, 'false');
    case 0x6e:
      return literalEnd(bytes, from, 'null');
    default:
      return numberEnd(bytes, from, maxDigits);
  }
}

/** Where the escape with its backslash at `from` ends (RFC 8259, section 7); -1 if it is invalid. */
export function findEscapeEnd(bytes: Buffer, from: number): number {
  const byte = bytes[from + 1] ?? 0;
  if (IS_ESCAPE[byte] === 1) return from + 2;
  if (byte !== 0x75) return -1;
  for (let at = from + 2; at < from + 6; at += 1) if (IS_HEX[bytes[at] ?? 0] !== 1) return -1;
  return from + 6;
}

/** Tables with 1 for each byte of a set, as looking one up is faster than searching the set. */
const IS_ESCAPE: Uint8Array = tableOf('"\\/bfnrt');
const IS_HEX: Uint8Array = tableOf('0123456789ABCDEFabcdef');

function tableOf(set: string): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (set.includes(String.fromCharCode(byte)) ? 1 : 0));
}

const ZERO = 0x30;
const NINE = 0x39;

function literalEnd(bytes: Buffer, from: number, text: string): number {
  const end = from + text.length;
  return bytes.toString('latin1', from, end) === text ? end : -1;
}

function numberEnd(bytes: Buffer, from: number, max: number): number {
  const whole = bytes[from] === 0x2d ? from + 1 : from;
  let at = digitsEnd(bytes, whole, max);
  if (at === whole || (bytes[whole] === ZERO && at > whole + 1)) return -1;
  if (bytes[at] === 0x2e) {
    const fraction = at + 1;
    at = digitsEnd(bytes, fraction, max);
    if (at === fraction) return -1;
  }
  const exponent = bytes[at];
  if (exponent === 0x65 || exponent === 0x45) {
    const sign = bytes[at + 1];
    const power = sign === 0x2b || sign === 0x2d ? at + 2 : at + 1;
    at = digitsEnd(bytes, power, max);
    if (at === power) return -1;
  }
  return at;
}

function digitsEnd(bytes: Buffer, from: number, max: number): number {
  const last = from + max;
  let at = from;
  while (at < last) {
    const byte = bytes[at];
    if (byte === undefined || byte < ZERO || byte > NINE) break;
    at += 1;
  }
  return at;
}

/** Recently seen short texts: messages use few different ones, and creating a string costs more than comparing bytes. */
const KEPT: string[] = [];
const MAX_KEPT_LENGTH = 48;

/** The text of a plain ASCII key. */
export function readKey(bytes: Buffer, start: number, end: number): string {
  return findKeptText(bytes, start, end) ?? keep(bytes, start, bytes.toString('latin1', start, end));
}

/** The text between the quotes of a string, as written. Undefined if it was not seen recently. */
export function findKeptText(bytes: Buffer, start: number, end: number): string | undefined {
  const kept = KEPT[slotOf(bytes, start, end)];
  return kept?.length === end - start && isAt(bytes, start, kept) ? kept : undefined;
}

/** Keeps a short text for `findKeptText`, and returns it. Only one in ASCII without escapes is found again. */
export function keep(bytes: Buffer, start: number, text: string): string {
  if (text.length <= MAX_KEPT_LENGTH) KEPT[slotOf(bytes, start, start + text.length)] = text;
  return text;
}

function slotOf(bytes: Buffer, start: number, end: number): number {
  return ((end - start) * 31 + (bytes[start] ?? 0) * 7 + (bytes[end - 1] ?? 0)) & 0xff;
}

/** Whether the text, which must be ASCII, is at `start`. */
export function isAt(bytes: Buffer, start: number, text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (bytes[start + at] !== text.charCodeAt(at)) return false;
  return true;
}
