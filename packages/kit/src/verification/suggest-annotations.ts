import { DEFAULTS, type Hint, HINTS, type Hints } from '../hint.ts';
import type { ToolReport } from './verdict.ts';

/**
 * Annotations to paste into a server: all four hints as declared, except those that were contradicted, which get the
 * cautious value. A read-only tool counts as not destructive and as idempotent.
 */
export function suggestAnnotations({ declared, verdicts }: Pick<ToolReport, 'declared' | 'verdicts'>): Hints {
  const hints = Object.fromEntries(
    HINTS.map((hint) => [
      hint,
      verdicts[hint].kind === 'contradicted' ? DEFAULTS[hint] : (declared[hint] ?? DEFAULTS[hint]),
    ]),
  ) as Record<Hint, boolean>; // every hint was visited
  if (!hints.readOnlyHint) return hints;
  return {
    ...hints,
    destructiveHint: declared.destructiveHint ?? false,
    idempotentHint: declared.idempotentHint ?? true,
  };
}

/** Whether the suggestion differs from the declaration, even if only by stating a hint that was left to its default. */
export function differs(tool: Pick<ToolReport, 'declared' | 'verdicts'>): boolean {
  const suggested = suggestAnnotations(tool);
  return HINTS.some((hint) => tool.declared[hint] !== suggested[hint]);
}
