import { type Hint, hintMeant, HINTS } from '../hints/hint.ts';
import {
  addFault,
  fitTextAt,
  isGiven,
  itemsAt,
  memberAt,
  membersAt,
  type JsonPosition,
} from '../json-position.ts';
import { nearest } from '../nearest.ts';
import type { Effect } from './policy.ts';
import type { PolicyRule } from './rule.ts';

const MAX_RULES = 500;
const MAX_PATTERNS = 50;
const MAX_PATTERN_LENGTH = 200;
const MAX_NAME_LENGTH = 100;
const MAX_BECAUSE_LENGTH = 500;

export const EFFECTS: readonly Effect[] = ['allow', 'ask', 'refuse'];
const MEMBERS: readonly string[] = [
  ...['effect', 'name', 'because', 'server', 'tool', 'tag', 'toolset', 'token', 'hints'],
];

/** Reads a list of rules; problems are reported at their position. If there is any, none of the rules can be used. */
export function readRules(position: JsonPosition): readonly PolicyRule[] {
  const items = itemsAt(position);
  if (items.length > MAX_RULES) {
    addFault(position, `it may have at most ${MAX_RULES} rules`);
    return [];
  }
  return items.map(readRule);
}

function readRule(position: JsonPosition): PolicyRule {
  for (const [name, member] of membersAt(position))
    if (!MEMBERS.includes(name)) addFault(member, `a rule has no such member${meant(name, MEMBERS)}`);
  const at = (name: string): JsonPosition => memberAt(position, name);
  const rule: PolicyRule = {
    effect: effectAt(at('effect')),
    name: ifGiven(at('name'), (one) => fitTextAt(one, lengthFault(MAX_NAME_LENGTH))),
    because: ifGiven(at('because'), (one) => fitTextAt(one, lengthFault(MAX_BECAUSE_LENGTH))),
    server: ifGiven(at('server'), (one) => patternsAt(one)),
    tool: ifGiven(at('tool'), (one) => patternsAt(one, toolFault)),
    tag: ifGiven(at('tag'), (one) => patternsAt(one)),
    toolset: ifGiven(at('toolset'), (one) => patternsAt(one)),
    token: ifGiven(at('token'), (one) => patternsAt(one)),
    hints: ifGiven(at('hints'), hintsAt),
  };
  const given = Object.entries(rule).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), effect: rule.effect };
}

function ifGiven<T>(position: JsonPosition, read: (position: JsonPosition) => T): T | undefined {
  return isGiven(position) ? read(position) : undefined;
}

function effectAt(position: JsonPosition): Effect {
  const effect = EFFECTS.find((known) => known === position.value);
  if (effect === undefined)
    addFault(position, isGiven(position) ? `it must be one of ${EFFECTS.join(', ')}` : 'it is missing');
  return effect ?? 'refuse';
}

/** One pattern, or a list of them. */
function patternsAt(
  position: JsonPosition,
  fault: (pattern: string) => string | undefined = patternFault,
): readonly string[] {
  if (typeof position.value === 'string') return [fitTextAt(position, fault)];
  if (!Array.isArray(position.value)) {
    addFault(position, 'it must be a pattern, or a list of patterns');
    return [];
  }
  if (position.value.length === 0 || position.value.length > MAX_PATTERNS) {
    addFault(position, `it must have 1 to ${MAX_PATTERNS} patterns`);
    return [];
  }
  return itemsAt(position).map((item) => fitTextAt(item, fault));
}

const patternFault = lengthFault(MAX_PATTERN_LENGTH);

/** A name without a server would match no tool, so a rule that refuses it would have no effect. */
function toolFault(pattern: string): string | undefined {
  return (
    patternFault(pattern) ??
    (pattern.includes('.') || pattern === '*'
      ? undefined
      : 'it must be a pattern of SERVER.TOOL, such as "linear.create_*" or "*.delete_*"')
  );
}

function lengthFault(limit: number): (text: string) => string | undefined {
  return (text) => (text === '' || text.length > limit ? `it must have 1 to ${limit} characters` : undefined);
}

function hintsAt(position: JsonPosition): Readonly<Partial<Record<Hint, boolean>>> {
  const hints: Partial<Record<Hint, boolean>> = {};
  const members = membersAt(position);
  if (members.length === 0) addFault(position, `it must name one of ${HINTS.join(', ')}`);
  for (const [name, member] of members) {
    const hint = HINTS.find((known) => known === name);
    if (hint === undefined) addFault(member, `there is no such hint; ${suggestion(name)}`);
    else if (typeof member.value === 'boolean') hints[hint] = member.value;
    else addFault(member, 'it must be true or false');
  }
  return hints;
}

function suggestion(name: string): string {
  const hint = hintMeant(name) ?? hintMeant(`${name}Hint`);
  return hint === undefined ? `there are ${HINTS.join(', ')}` : `did you mean ${JSON.stringify(hint)}?`;
}

function meant(name: string, known: readonly string[]): string {
  const found = nearest(name, known);
  return found === undefined ? `; there are ${known.join(', ')}` : `; did you mean ${JSON.stringify(found)}?`;
}
