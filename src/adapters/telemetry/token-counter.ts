import { createRequire } from 'node:module';

interface Tokenizer {
  readonly countTokens: (
    text: string,
    options: { readonly disallowedSpecial: ReadonlySet<string> },
  ) => number;
}

let tokenizer: Tokenizer | undefined;

/** The text comes from a server, so special tokens are counted as plain text. */
const ALL_ALLOWED = { disallowedSpecial: new Set<string>() };
/** Maximum number of characters tokenized at once: time grows quadratically with the length of an unbroken word. */
const PIECE_LENGTH = 2_000;

/** Counts with `o200k_base`, which the published tokenizers share. Its large table is loaded with the first text. */
export function countTokens(text: string): number {
  tokenizer ??= createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base') as Tokenizer;
  let tokens = 0;
  for (let at = 0; at < text.length; at += PIECE_LENGTH)
    tokens += tokenizer.countTokens(text.slice(at, at + PIECE_LENGTH), ALL_ALLOWED);
  return tokens;
}
