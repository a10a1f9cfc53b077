import { formatCount } from '@assay-mcp/kit/counted';
import type { Declared } from './declared.ts';
import { DEFAULTS, type Hint, HINTS, isContradiction, type DeclaredHints } from '@assay-mcp/kit/hint';
import { inferFromMethod } from '@assay-mcp/kit/infer-hints';
import { shorten } from '@assay-mcp/kit/shorten';
import { findWords, HARM, OUTSIDE, READ, REPEAT, WRITE, splitWords } from './telling-words.ts';

export type LintRule = 'contradiction' | 'not-boolean' | 'telling-words' | 'missing-hints' | 'hidden-text';
export type LintLevel = 'error' | 'warning' | 'off';
export type LintLevels = Readonly<Record<LintRule, LintLevel>>;

export const LINT_RULES: readonly LintRule[] = [
  'contradiction',
  'not-boolean',
  'telling-words',
  'missing-hints',
  'hidden-text',
];

/** A reason to review the annotations of a tool, never a verdict. */
export interface LintFinding {
  readonly rule: LintRule;
  readonly level: Exclude<LintLevel, 'off'>;
  readonly hint?: Hint;
  /** The finding as a sentence. */
  readonly message: string;
  readonly remedy: string;
}

/** A tool as shown in lists. */
interface Linted {
  /** Its name on its server. */
  readonly name: string;
  readonly declared: Declared;
  /** The hints shown in lists. */
  readonly emitted: DeclaredHints;
}

/** Problems with a tool's hints, worst first. Rules that are off are skipped. */
export function lint(tool: Linted, levels: LintLevels): readonly LintFinding[] {
  return LINT_RULES.flatMap((rule) => {
    const level = levels[rule];
    if (level === 'off') return [];
    return CHECKS[rule](tool).map((fault) => ({ rule, level, ...fault }));
  });
}

type Fault = Omit<LintFinding, 'rule' | 'level'>;

const CHECKS: Readonly<Record<LintRule, (tool: Linted) => readonly Fault[]>> = {
  contradiction: ({ emitted }) =>
    isContradiction(emitted)
      ? [
          {
            message: 'It declares both that it only reads and that it may destroy.',
            remedy: 'Make readOnlyHint or destructiveHint false. Until then it counts as destructive.',
          },
        ]
      : [],
  'not-boolean': ({ declared }) =>
    declared.broken.map((hint) => ({
      hint,
      message: `Its ${hint} is ${formatValue(declared.annotations?.[hint])}, which is neither true nor false. It is left out of lists, as official clients would reject all tools for it.`,
      remedy: `Write true or false, without quotes, or leave ${hint} out.`,
    })),
  'telling-words': tellingFaults,
  'missing-hints': ({ emitted }) => missingFaults(emitted),
  'hidden-text': ({ declared }) =>
    declared.hidden.map(({ path, characters }) => ({
      message: `Its ${path === '' ? 'definition' : path} contains characters that are invisible to people but read by models: ${characters.join(', ')}.`,
      remedy: 'Take them out; hidden text can carry instructions that no review shows.',
    })),
};

function tellingFaults({ name, declared, emitted }: Linted): readonly Fault[] {
  const { description = '' } = declared;
  const faults: Fault[] = [];
  const add = (hint: Hint, words: readonly string[], doubt: string): void => {
    const [word] = words;
    if (word === undefined) return;
    faults.push({
      hint,
      message: `It says ${hint}: ${String(emitted[hint])}, and speaks of "${word}".`,
      remedy: `Look whether it ${doubt}; if it does, ${hint} is ${String(emitted[hint] !== true)}.`,
    });
  };
  if (emitted.readOnlyHint === true)
    add('readOnlyHint', [...writeWords(name), ...harmWords(name, description)], 'changes anything');
  else if (emitted.destructiveHint === false)
    add('destructiveHint', harmWords(name, description), 'destroys or overwrites anything');
  if (emitted.destructiveHint === true && emitted.readOnlyHint !== true && harmWords(name, '').length === 0)
    add('destructiveHint', readingWord(name), 'only reads');
  if (emitted.idempotentHint === true && emitted.readOnlyHint !== true)
    add('idempotentHint', repeatWords(name), 'does more when it is called twice');
  if (emitted.openWorldHint === false) add('openWorldHint', outsideWords(name), 'reaches anything outside');
  return [...faults, ...methodFaults(declared.method, emitted)];
}

/** An explicit hint wins over the one its method implies. POST implies nothing: many APIs use it for searches. */
function methodFaults(method: string | undefined, emitted: DeclaredHints): readonly Fault[] {
  const inferred = method === undefined || method === 'POST' ? undefined : inferFromMethod(method)?.hints;
  if (method === undefined || inferred === undefined) return [];
  const faultsOf = (hint: Hint, doubt: string): readonly Fault[] => [
    {
      hint,
      message: `It says ${hint}: ${String(emitted[hint])}, and sends a ${method} request.`,
      remedy: `Look whether it ${doubt}; if it does, ${hint} is ${String(emitted[hint] !== true)}.`,
    },
  ];
  if (emitted.readOnlyHint === true)
    return inferred.readOnlyHint ? [] : faultsOf('readOnlyHint', 'changes anything');
  return emitted.destructiveHint === false && inferred.destructiveHint
    ? faultsOf('destructiveHint', 'destroys or overwrites anything')
    : [];
}

/** Two hints have no meaning for a read-only tool (2025-11-25, schema#toolannotations). */
const MEANINGLESS: ReadonlySet<Hint> = new Set(['destructiveHint', 'idempotentHint']);

function missingFaults(emitted: DeclaredHints): readonly Fault[] {
  const isReading = emitted.readOnlyHint === true;
  const missing = HINTS.filter(
    (hint) => emitted[hint] === undefined && !(isReading && MEANINGLESS.has(hint)),
  );
  if (missing.length === 0) return [];
  const assumed = missing.map((hint) => `${hint} ${String(DEFAULTS[hint])}`).join(', ');
  return [
    {
      message: `It leaves out ${formatCount(missing.length, 'hint')}: clients assume ${assumed}.`,
      remedy: `Say ${missing.join(', ')}.`,
    },
  ];
}

const MAX_SHOWN_LENGTH = 60;

function formatValue(value: unknown): string {
  return shorten(JSON.stringify(value), MAX_SHOWN_LENGTH);
}

/** Destructive words in a name, or as a verb in a description. */
function harmWords(name: string, description: string): readonly string[] {
  return [...findWords(HARM, splitWords(name)), ...findWords(HARM, splitWords(description))];
}

function writeWords(name: string): readonly string[] {
  return findWords(WRITE, splitWords(name));
}

function repeatWords(name: string): readonly string[] {
  return findWords(REPEAT, splitWords(name));
}

function outsideWords(name: string): readonly string[] {
  return findWords(OUTSIDE, splitWords(name));
}

/** The first word of a name, if it is a verb that means reading. */
function readingWord(name: string): readonly string[] {
  return findWords(READ, splitWords(name).slice(0, 1));
}
