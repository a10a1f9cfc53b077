import { hasDuplicateKeys, isMembers, writtenJson } from '../../core/canonical-json.ts';
import { isCredentialKey } from './credential-names.ts';

/** Arguments of a call, fit to show to people. */
export interface ShownArguments {
  /** JSON text, or the start of it. */
  readonly text: string;
  /** Whether it was cut, or is masked below a depth of 20. */
  readonly isShortened: boolean;
}

/** Larger texts are not parsed, since parsing blocks the event loop. */
const MAX_PARSED_LENGTH = 256 * 1024;
const MAX_LENGTH = 4_000;
const MAX_DEPTH = 20;
const MASK = '***';

/**
 * The arguments of a call with credentials masked: strings and numbers in members with such names, and known secrets
 * anywhere. Other numbers stay as written; names and structure are kept. Texts beyond 4,000 characters are cut.
 */
export function shownArguments(text: string, mask: (text: string) => string): ShownArguments {
  const isParsed = text.length <= MAX_PARSED_LENGTH;
  const exact = isParsed ? writtenJson(text) : undefined;
  // Parsers differ in which of two equal keys they use, so the whole text is shown.
  const read = hasDuplicateKeys(text, exact) ? undefined : exact;
  const masking = new Masking();
  const masked = mask(
    read === undefined
      ? text.slice(0, MAX_PARSED_LENGTH)
      : JSON.stringify(masking.of(read.value, { depth: 0, isCredential: false })),
  );
  const isCut = !isParsed || masked.length > MAX_LENGTH;
  return {
    text: isCut ? `${masked.slice(0, MAX_LENGTH)}…` : masked,
    isShortened: isCut || masking.isTooDeep,
  };
}

interface ValueContext {
  readonly depth: number;
  readonly isCredential: boolean;
}

class Masking {
  /** Whether an object or array was masked because it is nested too deeply. */
  isTooDeep = false;

  of(value: unknown, { depth, isCredential }: ValueContext): unknown {
    const isArray = Array.isArray(value);
    if (!isArray && !isMembers(value)) return isCredential && typeof value !== 'boolean' ? MASK : value;
    if (depth === MAX_DEPTH) {
      this.isTooDeep = true;
      return MASK;
    }
    if (isArray) return value.map((item) => this.of(item, { depth: depth + 1, isCredential }));
    const members = Object.entries(value).map(([key, member]) => [
      key,
      this.of(member, { depth: depth + 1, isCredential: isCredential || isCredentialKey(key) }),
    ]);
    return Object.fromEntries(members);
  }
}
