import { compileRule, type PolicyRule, type RuleCaller, type RuleTool } from './rule.ts';

/** The tools that rules refuse to a caller, whatever the arguments and the session labels. */
export interface HiddenTools {
  hides(tool: RuleTool): boolean;
}

/**
 * What rules hide from a caller: the same object for all callers to whom the same rules apply. Undefined if nothing is
 * hidden.
 */
export type HidingRules = (caller: RuleCaller) => HiddenTools | undefined;

/** Results are kept for this many callers; beyond that, all are computed again. */
const MAX_CALLERS = 1_000;

/** Only conditions on the tool and the caller can hide a tool: a caller may not learn what it can never use. */
export function compileHidingRules(rules: readonly PolicyRule[]): HidingRules {
  const refusing = rules.map(compileRule).filter(({ rule }) => rule.effect === 'refuse');
  if (refusing.length === 0) return () => undefined;
  const byRules = new Map<string, HiddenTools | undefined>([['', undefined]]);
  const byCaller = new Map<string, HiddenTools | undefined>();
  const compute = (caller: RuleCaller): HiddenTools | undefined => {
    const applying = refusing.filter(({ matchesCaller }) => matchesCaller?.(caller) !== false);
    const key = applying.map((rule) => refusing.indexOf(rule)).join(' ');
    if (!byRules.has(key))
      byRules.set(key, { hides: (tool) => applying.some(({ matchesTool }) => matchesTool(tool)) });
    return byRules.get(key);
  };
  return (caller) => {
    // Names of toolsets contain no spaces.
    const key = `${caller.toolset ?? ''} ${caller.identity.subject}`;
    const known = byCaller.get(key);
    if (known !== undefined || byCaller.has(key)) return known;
    if (byCaller.size >= MAX_CALLERS) {
      byCaller.clear();
      byRules.clear();
      byRules.set('', undefined);
    }
    const hidden = compute(caller);
    byCaller.set(key, hidden);
    return hidden;
  };
}
