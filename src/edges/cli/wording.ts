import { printable } from '../../core/printable.ts';
import type { Refusal } from '../../core/refusal.ts';

/** Somebody's text inside a sentence of ours: one line, escaped. */
export function quoted(text: string): string {
  return printable(JSON.stringify(text));
}

/** What is wrong with an argument, where something is; the reason ends a sentence. */
export function argumentFault(field: string, reason: string | undefined): Refusal | undefined {
  return reason === undefined ? undefined : { code: 'ARGUMENTS_INVALID', reason: `${field}: ${reason}` };
}
