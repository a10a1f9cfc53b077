import { hasDuplicateKeys, isMembers, parseExactJson } from '@assay-mcp/kit/canonical-json';
import type { ShownArguments } from '../../core/approval.ts';
import { isCredentialKey } from '@assay-mcp/kit/credential-names';
import { MASKED } from '@assay-mcp/kit/secret-shapes';
import { truncateText } from '@assay-mcp/kit/shorten';

/** Larger texts are not parsed, since parsing blocks the event loop. */
const MAX_PARSED_LENGTH = 256 * 1024;
const MAX_LENGTH = 4_000;
const MAX_DEPTH = 20;

/**
 * The arguments of a call with credentials masked: strings and numbers in members with such names, and known secrets
 * anywhere. Other numbers stay as written; names and structure are kept. Texts beyond 4,000 characters are cut.
 */
export function maskArguments(text: string, mask: (text: string) => string): ShownArguments {
  const { isParsed, read } = readArguments(text);
  const masking = new Masking();
  const plain =
    read === undefined
      ? truncateText(text, MAX_PARSED_LENGTH)
      : JSON.stringify(masking.of(read.value, { depth: 0, isCredential: false }));
  const masked = mask(plain);
  const isCut = !isParsed || masked.length > MAX_LENGTH;
  return {
    text: isCut ? `${truncateText(masked, MAX_LENGTH)}…` : masked,
    isShortened: isCut || masking.isTooDeep,
    isMasked: masking.hasMasked || masked !== plain,
  };
}

/**
 * The arguments of a call for whoever decides on it: everything except known secrets, at any depth, and up to 256 KiB.
 * Nothing is masked on suspicion, because a caller could hide what it does in whatever looks like a secret.
 */
export function maskApprovalArguments(text: string, maskKnown: (text: string) => string): ShownArguments {
  const { isParsed, read } = readArguments(text);
  // Rewritten, so that escapes such as \u0072\u006d do not hide what they stand for.
  const plain = read === undefined ? truncateText(text, MAX_PARSED_LENGTH) : JSON.stringify(read.value);
  const masked = maskKnown(plain);
  return { text: isParsed ? masked : `${masked}…`, isShortened: !isParsed, isMasked: masked !== plain };
}

function readArguments(text: string): {
  readonly isParsed: boolean;
  /** Undefined if parsers could disagree about it: then the text itself is shown. */
  readonly read: ReturnType<typeof parseExactJson>;
} {
  const isParsed = text.length <= MAX_PARSED_LENGTH;
  const exact = isParsed ? parseExactJson(text, 'notation') : undefined;
  return { isParsed, read: hasDuplicateKeys(text, exact) ? undefined : exact };
}

interface ValueContext {
  readonly depth: number;
  readonly isCredential: boolean;
}

class Masking {
  /** Whether an object or array was masked because it is nested too deeply. */
  isTooDeep = false;
  hasMasked = false;

  of(value: unknown, { depth, isCredential }: ValueContext): unknown {
    const isArray = Array.isArray(value);
    if (!isArray && !isMembers(value)) {
      if (!isCredential || typeof value === 'boolean') return value;
      this.hasMasked = true;
      return MASKED;
    }
    if (depth === MAX_DEPTH) {
      this.isTooDeep = true;
      this.hasMasked = true;
      return MASKED;
    }
    if (isArray) return value.map((item) => this.of(item, { depth: depth + 1, isCredential }));
    const members = Object.entries(value).map(([key, member]) => [
      key,
      this.of(member, { depth: depth + 1, isCredential: isCredential || isCredentialKey(key) }),
    ]);
    return Object.fromEntries(members);
  }
}
