import { counted } from '../counted.ts';
import type { Declared } from './declared.ts';
import { DEFAULTS, type Hint, HINTS, isContradiction, type SaidHints } from './hint.ts';
import { inferFromMethod } from './infer.ts';

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

/** A reason to look at the annotations of a tool, never a verdict. */
export interface LintFinding {
  readonly rule: LintRule;
  readonly level: Exclude<LintLevel, 'off'>;
  readonly hint?: Hint | undefined;
  /** What stands there, as a sentence. */
  readonly says: string;
  readonly remedy: string;
}

/** A tool as lists show it. */
interface Linted {
  /** What its server calls it. */
  readonly name: string;
  readonly declared: Declared;
  /** The hints that lists show. */
  readonly emitted: SaidHints;
}

/** What is wrong with the hints of a tool, worst first. Rules that are off say nothing. */
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
            says: 'It says both that it only reads and that it may destroy.',
            remedy: 'Make readOnlyHint or destructiveHint false. Until then it counts as destructive.',
          },
        ]
      : [],
  'not-boolean': ({ declared }) =>
    declared.broken.map((hint) => ({
      hint,
      says: `Its ${hint} is ${shown(declared.annotations?.[hint])}, which is neither true nor false. It is left out of lists, as official clients would reject all tools for it.`,
      remedy: `Write true or false, without quotes, or leave ${hint} out.`,
    })),
  'telling-words': tellingFaults,
  'missing-hints': ({ emitted }) => missingFaults(emitted),
  'hidden-text': ({ declared }) =>
    declared.hidden.map(({ path, characters }) => ({
      says: `Its ${path === '' ? 'definition' : path} holds characters that people do not see and models read: ${characters.join(', ')}.`,
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
      says: `It says ${hint}: ${String(emitted[hint])}, and speaks of "${word}".`,
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

/** An explicit hint wins over what its method suggests. POST suggests nothing: many an API searches by it. */
function methodFaults(method: string | undefined, emitted: SaidHints): readonly Fault[] {
  const inferred = method === undefined || method === 'POST' ? undefined : inferFromMethod(method)?.hints;
  if (method === undefined || inferred === undefined) return [];
  const says = (hint: Hint, doubt: string): readonly Fault[] => [
    {
      hint,
      says: `It says ${hint}: ${String(emitted[hint])}, and sends a ${method} request.`,
      remedy: `Look whether it ${doubt}; if it does, ${hint} is ${String(emitted[hint] !== true)}.`,
    },
  ];
  if (emitted.readOnlyHint === true)
    return inferred.readOnlyHint ? [] : says('readOnlyHint', 'changes anything');
  return emitted.destructiveHint === false && inferred.destructiveHint
    ? says('destructiveHint', 'destroys or overwrites anything')
    : [];
}

/** Of a tool that only reads, two hints have no meaning (2025-11-25, schema#toolannotations). */
const MEANINGLESS: ReadonlySet<Hint> = new Set(['destructiveHint', 'idempotentHint']);

function missingFaults(emitted: SaidHints): readonly Fault[] {
  const isReading = emitted.readOnlyHint === true;
  const missing = HINTS.filter(
    (hint) => emitted[hint] === undefined && !(isReading && MEANINGLESS.has(hint)),
  );
  if (missing.length === 0) return [];
  const assumed = missing.map((hint) => `${hint} ${String(DEFAULTS[hint])}`).join(', ');
  return [
    {
      says: `It leaves out ${counted(missing.length, 'hint')}: clients assume ${assumed}.`,
      remedy: `Say ${missing.join(', ')}.`,
    },
  ];
}

const LONGEST_SHOWN = 60;

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

/** Verbs by which a name or a description speaks of what a tool does. */
const HARM: ReadonlySet<string> = new Set(
  'delete remove destroy drop erase wipe purge truncate overwrite kill terminate uninstall revoke discard'.split(
    ' ',
  ),
);
const WRITE: ReadonlySet<string> = new Set(
  'write create update edit insert append upload send publish rename move install set put patch post save modify'.split(
    ' ',
  ),
);
const READ: ReadonlySet<string> = new Set(
  'get list read search find show describe count view query lookup inspect'.split(' '),
);
const REPEAT: ReadonlySet<string> = new Set('append increment send publish enqueue charge'.split(' '));
const OUTSIDE: ReadonlySet<string> = new Set(
  'fetch browse download crawl scrape web http https url internet email'.split(' '),
);

/** Words of destruction in a name, or as a verb in a description. */
function harmWords(name: string, description: string): readonly string[] {
  return [...among(HARM, wordsOf(name)), ...among(HARM, wordsOf(description))];
}

function writeWords(name: string): readonly string[] {
  return among(WRITE, wordsOf(name));
}

function repeatWords(name: string): readonly string[] {
  return among(REPEAT, wordsOf(name));
}

function outsideWords(name: string): readonly string[] {
  return among(OUTSIDE, wordsOf(name));
}

/** The verb with which a name begins, where that is one of reading. */
function readingWord(name: string): readonly string[] {
  return among(READ, wordsOf(name).slice(0, 1));
}

const LONGEST_READ = 10_000;

/** In lower case, also the parts of `camelCase` and `snake_case`. A server chooses how long its texts are. */
function wordsOf(text: string): readonly string[] {
  const parts = text
    .slice(0, LONGEST_READ)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return parts.split(/[^a-z]+/).filter((word) => word !== '');
}

/** Those of a set, also as the third person has them: "deletes". */
function among(set: ReadonlySet<string>, words: readonly string[]): readonly string[] {
  return words.filter((word) => set.has(word) || (word.endsWith('s') && set.has(word.slice(0, -1))));
}
