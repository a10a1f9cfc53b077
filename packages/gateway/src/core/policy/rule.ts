import { type Hint, HINTS } from '@assay-mcp/kit/hint';
import type { ResolvedHint, ResolvedHints } from '../hints/resolve.ts';
import { matchesGlob } from '../tool-filter.ts';
import type { Effect, PolicyCaller, PolicyReason, PolicyTool } from './policy.ts';

/** An operator's rule. It applies to calls that meet all of its conditions; without conditions, to every call. */
export interface PolicyRule {
  readonly effect: Effect;
  readonly name?: string | undefined;
  /** The reason, shown to whoever is asked or refused. */
  readonly because?: string | undefined;
  /** Patterns with `*` for any characters; one must match. */
  readonly server?: readonly string[] | undefined;
  /** Patterns of namespaced names: `linear.create_*`. */
  readonly tool?: readonly string[] | undefined;
  /** Patterns of the operators' tags of the tool or its server. */
  readonly tag?: readonly string[] | undefined;
  /** Patterns of toolset names, for calls through such a toolset. */
  readonly toolset?: readonly string[] | undefined;
  /** Patterns of token names. */
  readonly token?: readonly string[] | undefined;
  readonly hints?: Readonly<Partial<Record<Hint, boolean>>> | undefined;
}

/** What rules can depend on: everything about the tool ... */
export type RuleTool = Pick<PolicyTool, 'server' | 'name' | 'hints' | 'tags' | 'allowingTags'>;

/** ... and about the caller. Neither arguments nor session labels: `compileHidingRules` relies on that. */
export interface RuleCaller extends Pick<PolicyCaller, 'toolset'> {
  readonly identity: Pick<PolicyCaller['identity'], 'subject'>;
}

/** A rule with its conditions as functions. */
export interface CompiledRule {
  readonly rule: PolicyRule;
  readonly reason: PolicyReason;
  /** Decided once per tool and kept. */
  readonly matchesTool: (tool: RuleTool) => boolean;
  /** Everything that can differ between two calls of a tool. Undefined if every call meets it. */
  readonly matchesCaller: ((caller: RuleCaller) => boolean) | undefined;
}

export function compileRule(rule: PolicyRule, index: number): CompiledRule {
  const { effect, because, server, tool, tag, hints } = rule;
  const toolConditions: ((tool: RuleTool) => boolean)[] = [];
  if (server !== undefined)
    toolConditions.push((about) => about.server !== undefined && isOneOf(server, about.server));
  if (tool !== undefined) toolConditions.push((about) => isOneOf(tool, nameOf(about)));
  if (tag !== undefined)
    toolConditions.push(({ tags = [], allowingTags = [] }) =>
      (effect === 'allow' ? allowingTags : tags).some((one) => isOneOf(tag, one)),
    );
  if (hints !== undefined) toolConditions.push((about) => meetsHints(hints, about.hints, effect));
  return {
    rule,
    reason: {
      code: 'rule',
      effect,
      rule: getRuleName(rule, index),
      ...(because !== undefined && { because }),
    },
    matchesTool: (about) => toolConditions.every((meets) => meets(about)),
    matchesCaller: callerCondition(rule),
  };
}

/** Its name or, if it has none, its number. */
export function getRuleName({ name }: PolicyRule, index: number): string {
  return name ?? `#${index + 1}`;
}

export function meetsRule(
  { matchesTool, matchesCaller }: CompiledRule,
  tool: RuleTool,
  caller: RuleCaller,
): boolean {
  return matchesTool(tool) && matchesCaller?.(caller) !== false;
}

function callerCondition({ toolset, token }: PolicyRule): CompiledRule['matchesCaller'] {
  if (toolset === undefined && token === undefined) return undefined;
  return (caller) =>
    (toolset === undefined || (caller.toolset !== undefined && isOneOf(toolset, caller.toolset))) &&
    (token === undefined || isOneOf(token, caller.identity.subject));
}

/** Assay's own tools have no server, so their names begin with a dot. */
function nameOf({ server = '', name }: RuleTool): string {
  return `${server}.${name}`;
}

function isOneOf(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, text));
}

/**
 * A rule that allows applies only if the hint is known to have the value; one that asks or refuses applies if the hint
 * may have it. So unknown hints never make a decision less careful.
 */
function meetsHints(wanted: NonNullable<PolicyRule['hints']>, hints: ResolvedHints, effect: Effect): boolean {
  return HINTS.every((hint) => {
    const value = wanted[hint];
    if (value === undefined) return true;
    const known = findTrustedValue(hints[hint]);
    return known === undefined ? effect !== 'allow' : known === value;
  });
}

/** The value of a hint, if it was decided by a claim that may lower caution. */
export function findTrustedValue({ decision: { value, by } }: ResolvedHint): boolean | undefined {
  if (by.kind === 'default') return undefined;
  const claim = by.kind === 'claim' ? by.claim : by.by;
  return claim.mayLower ? value : undefined;
}
