import type { CountTokens } from '../../gateway/ports/telemetry.ts';

/** The text comes from a server, so special tokens are counted as plain text. */
const ALL_ALLOWED = { disallowedSpecial: new Set<string>() };
/** Maximum number of characters tokenized at once: time grows quadratically with the length of an unbroken word. */
const PIECE_LENGTH = 2_000;

/** Counts with `o200k_base`, which the published tokenizers share. Its table takes 2.4 MB, so it is loaded when needed. */
export async function loadTokenCounter(): Promise<CountTokens> {
  const tokenizer = await import('gpt-tokenizer/encoding/o200k_base');
  return (text) => {
    let tokens = 0;
    for (let at = 0; at < text.length; at += PIECE_LENGTH)
      tokens += tokenizer.countTokens(text.slice(at, at + PIECE_LENGTH), ALL_ALLOWED);
    return tokens;
  };
}
