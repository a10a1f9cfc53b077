import { createRequire } from 'node:module';
import type { CountTokens } from '../../gateway/ports/count-tokens.ts';

interface Tokenizer {
  readonly countTokens: (
    text: string,
    options: { readonly disallowedSpecial: ReadonlySet<string> },
  ) => number;
}

let tokenizer: Tokenizer | undefined;

/** A server chose the text: words that mean something to a tokenizer are counted as any others. */
const ALL_ALLOWED = { disallowedSpecial: new Set<string>() };
/** The time for one unbroken word grows with the square of its length; so much is counted at once. */
const PIECE_LENGTH = 2_000;

/** By `o200k_base`, which the models that publish theirs share. Its table is large, and is loaded with the first text. */
export const countTokens: CountTokens = (text) => {
  tokenizer ??= createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base') as Tokenizer;
  let tokens = 0;
  for (let at = 0; at < text.length; at += PIECE_LENGTH)
    tokens += tokenizer.countTokens(text.slice(at, at + PIECE_LENGTH), ALL_ALLOWED);
  return tokens;
};
