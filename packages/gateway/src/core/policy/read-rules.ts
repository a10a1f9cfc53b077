import { type Hint, HINT_ABOUT, findMeantHint, HINTS } from '@assay-mcp/kit/hint';
import { addFault, type JsonPosition, readMembersAt } from '@assay-mcp/kit/json-position';
import {
  described,
  flag,
  list,
  object,
  objectSchema,
  oneOf,
  optional,
  type Reader,
  getSchema,
  textUpTo,
  withSchema,
} from '@assay-mcp/kit/json-reader';
import { EFFECTS } from './policy.ts';
import type { PolicyRule } from './rule.ts';

const MAX_RULES = 500;
const MAX_PATTERNS = 50;
const MAX_PATTERN_LENGTH = 200;
const MAX_NAME_LENGTH = 100;
const MAX_BECAUSE_LENGTH = 500;

const pattern = textUpTo(MAX_PATTERN_LENGTH);

/** One pattern, or a list of them. */
function patterns(one: Reader<string>): Reader<readonly string[]> {
  return withSchema(
    (position) => {
      const { value } = position;
      if (typeof value === 'string') return [one(position)];
      if (!Array.isArray(value)) addFault(position, 'it must be a pattern, or a list of patterns');
      else if (value.length > 0 && value.length <= MAX_PATTERNS) return list(one)(position);
      else addFault(position, `it must have 1 to ${MAX_PATTERNS} patterns`);
      return [];
    },
    () => ({
      anyOf: [
        getSchema(one),
        { ...getSchema(list(one, { max: MAX_PATTERNS, of: 'patterns' })), minItems: 1 },
      ],
    }),
  );
}

/** A name without a server would match no tool, so a rule that refuses it would have no effect. */
const toolPattern = textUpTo(MAX_PATTERN_LENGTH, (given) =>
  given.includes('.') || given === '*'
    ? undefined
    : 'it must be a pattern of SERVER.TOOL, such as "linear.create_*" or "*.delete_*"',
);

const hints: Reader<Readonly<Partial<Record<Hint, boolean>>>> = withSchema(readHints, () => ({
  ...objectSchema(
    Object.fromEntries(HINTS.map((hint) => [hint, described(HINT_ABOUT[hint], optional(flag))])),
  ),
  additionalProperties: false,
  minProperties: 1,
}));

const SHOWN = 'shown to whoever approves a call, and to operators when one is refused';

/** A test compares the descriptions with docs/POLICY.md. */
const rule: Reader<PolicyRule> = object<PolicyRule>({
  effect: described('allow, ask or refuse', oneOf(EFFECTS)),
  name: described(SHOWN, optional(textUpTo(MAX_NAME_LENGTH))),
  because: described(SHOWN, optional(textUpTo(MAX_BECAUSE_LENGTH))),
  server: described('name of the server', optional(patterns(pattern))),
  tool: described('namespaced name, SERVER.TOOL', optional(patterns(toolPattern))),
  tag: described('your tag of the tool or of its server', optional(patterns(pattern))),
  toolset: described('name of the toolset that the call goes through', optional(patterns(pattern))),
  token: described(
    'name of the token; local for stdio, the command line and access without a token',
    optional(patterns(pattern)),
  ),
  hints: described('values of hints, by name', optional(hints)),
});

/** Reads a list of rules; problems are reported at their position. If there is any, none of the rules can be used. */
export const readRules: Reader<readonly PolicyRule[]> = list(rule, { max: MAX_RULES, of: 'rules' });

function readHints(position: JsonPosition): Readonly<Partial<Record<Hint, boolean>>> {
  const members = readMembersAt(position);
  if (members.length === 0) addFault(position, `it must name one of ${HINTS.join(', ')}`);
  for (const [name, member] of members)
    if (HINTS.some((known) => known === name)) flag(member);
    else addFault(member, `there is no such hint; ${suggestion(name)}`);
  return Object.fromEntries(members.map(([name, { value }]) => [name, value === true]));
}

function suggestion(name: string): string {
  const hint = findMeantHint(name) ?? findMeantHint(`${name}Hint`);
  return hint === undefined ? `there are ${HINTS.join(', ')}` : `did you mean ${JSON.stringify(hint)}?`;
}
