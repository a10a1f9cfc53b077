import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';

/** `name: value` or `NAME=value`, as an object. ARGUMENTS_INVALID names what is neither. */
export function pairsIn(
  option: string,
  given: readonly string[],
  separator: ':' | '=',
): Result<Readonly<Record<string, string>>, Refusal> {
  const pairs: (readonly [string, string])[] = [];
  for (const text of given) {
    const at = text.indexOf(separator);
    // What was given is not repeated: it may be a secret.
    if (at < 1)
      return err({ code: 'ARGUMENTS_INVALID', reason: `${option}: write it as name${separator}value` });
    pairs.push([text.slice(0, at).trim(), text.slice(at + 1).trim()]);
  }
  return ok(Object.fromEntries(pairs));
}
