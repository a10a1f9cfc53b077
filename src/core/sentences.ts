import { bounded } from './bounded-refusal.ts';
import { printable } from './printable.ts';
import type { Refusal } from './refusal.ts';
import { REFUSALS } from './refusals/refusals.ts';

/** One or two sentences: what happened, why, and what to do. Never a secret, never unescaped upstream text. */
export function sentenceOf(refusal: Refusal): string {
  return printable(REFUSALS[refusal.code].sentence(bounded(refusal) as never));
}
