import { z } from 'zod';
import type { Fault } from '../fault.ts';

/** Without the safe-integer bounds that `z.int()` would add to the schema. */
export const COUNT: z.ZodNumber = z.number().meta({ type: 'integer', minimum: 0 });
export const LINE: z.ZodNumber = z.number().meta({ type: 'integer', minimum: 1 });

/** An optional `repository_id`. */
export function createRepositoryArgument(description: string): z.ZodType<string | undefined> {
  return z.guid('It must be a UUID, as index_repository returns it').optional().describe(description);
}

/** Time in ms since `startedMs`, with one decimal. */
export function toLatencyMs(startedMs: number): number {
  return Math.round((performance.now() - startedMs) * 10) / 10;
}

export function toSymbolNameFault(text: string): Fault {
  return {
    code: 'VALIDATION_ERROR',
    field: 'symbol',
    message: `${JSON.stringify(text)} is not one name.`,
    remedy: 'Pass a name such as "parseHeader" or "Cart.total". For words, call search_code.',
  };
}
