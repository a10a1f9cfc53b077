import { createRequire } from 'node:module';
import type { CountTokens } from '../../gateway/ports/text-meter.ts';

let counting: CountTokens | undefined;

/** By `o200k_base`, which the models that publish theirs share. Its table is large, and is loaded with the first text. */
export const countTokens: CountTokens = (text) => {
  counting ??= (
    createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base') as {
      readonly countTokens: CountTokens;
    }
  ).countTokens;
  return counting(text);
};
