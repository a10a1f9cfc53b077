import type { Argument, Command, Option } from 'commander';

/** The possible next words on a command line. */
type Expected =
  /** Words with descriptions. */
  | { readonly kind: 'words'; readonly words: readonly Word[] }
  /** Names known in the home. `also`: subcommands that may follow instead. */
  | { readonly kind: NameKind; readonly also: readonly Word[] }
  | { readonly kind: 'files' };

export type NameKind = 'servers' | 'tools' | 'refs' | 'toolsets' | 'clients';

interface Word {
  readonly text: string;
  readonly about: string;
}

interface Completion {
  readonly expected: Expected;
  /** The values of `--home` and `--config` so far. */
  readonly options: { readonly home?: string; readonly config?: string };
}

/** Completes the last word, which may be incomplete or empty. */
export function completeLastWord(program: Command, words: readonly string[]): Completion {
  const state = stateOf(program, words.slice(0, -1));
  return { expected: expectedAt(state, words.at(-1) ?? ''), options: state.options };
}

interface CompletionState {
  readonly command: Command;
  /** Number of its arguments so far. */
  readonly given: number;
  /** The option whose value comes next. */
  readonly awaiting: Option | undefined;
  /** Whether `--` has ended the options. */
  readonly isPlain: boolean;
  readonly options: Completion['options'];
}

function stateOf(program: Command, words: readonly string[]): CompletionState {
  let state: CompletionState = {
    command: program,
    given: 0,
    awaiting: undefined,
    isPlain: false,
    options: {},
  };
  for (const word of words) state = after(state, word);
  return state;
}

function after(state: CompletionState, word: string): CompletionState {
  const { command, given, awaiting, isPlain, options } = state;
  if (awaiting !== undefined) {
    const name = awaiting.attributeName();
    const isKept = name === 'home' || name === 'config';
    return { ...state, awaiting: undefined, options: isKept ? { ...options, [name]: word } : options };
  }
  if (word === '--') return { ...state, isPlain: true };
  if (!isPlain && word.startsWith('-')) {
    const option = command.options.find(({ long, short }) => long === word || short === word);
    return { ...state, awaiting: option?.required === true ? option : undefined };
  }
  const inner = given === 0 ? command.commands.find((one) => one.name() === word) : undefined;
  return inner === undefined ? { ...state, given: given + 1 } : { ...state, command: inner, given: 0 };
}

function expectedAt({ command, given, awaiting, isPlain }: CompletionState, last: string): Expected {
  if (awaiting !== undefined) return valueOf(awaiting);
  if (!isPlain && last.startsWith('-')) return { kind: 'words', words: optionsOf(command) };
  const also = given === 0 ? subcommandsOf(command) : [];
  const { registeredArguments: all } = command;
  const argument = all[given] ?? (all.at(-1)?.variadic === true ? all.at(-1) : undefined);
  if (argument === undefined) return { kind: 'words', words: also };
  const kind = NAMES[`${pathOf(command)} ${argument.name()}`] ?? NAMES[argument.name()];
  if (kind !== undefined) return { kind, also };
  return wordsOf(argument) ?? (also.length > 0 ? { kind: 'words', words: also } : { kind: 'files' });
}

/** What an argument names, by its name, or by command and name if the name alone is ambiguous. */
const NAMES: Readonly<Record<string, NameKind>> = {
  server: 'servers',
  toolset: 'toolsets',
  client: 'clients',
  'client|file': 'clients',
  tool: 'refs',
  tools: 'refs',
  refs: 'refs',
  'call name': 'tools',
  'hints tool': 'tools',
  'review tool': 'tools',
  ...Object.fromEntries(
    ['show', 'add', 'remove', 'describe', 'delete', 'equip', 'review', 'accept'].map((command) => [
      `toolset ${command} name`,
      'toolsets' as const,
    ]),
  ),
  'toolset rename old': 'toolsets',
};

/** `toolset add` */
function pathOf(command: Command): string {
  const { parent } = command;
  const isInner = parent !== null && parent.parent !== null;
  return isInner ? `${pathOf(parent)} ${command.name()}` : command.name();
}

function valueOf(option: Option): Expected {
  const name = option.attributeName();
  if (name === 'toolset') return { kind: 'toolsets', also: [] };
  if (name === 'instructions') return { kind: 'servers', also: [] };
  return wordsOf(option) ?? { kind: 'files' };
}

function wordsOf({ argChoices: choices }: Argument | Option): Expected | undefined {
  return choices && { kind: 'words', words: choices.map((text) => ({ text, about: '' })) };
}

function optionsOf(command: Command): readonly Word[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) =>
      typeof long === 'string' ? [{ text: long, about: description }] : [],
    );
}

function subcommandsOf(command: Command): readonly Word[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((inner) => ({ text: inner.name(), about: inner.description() }));
}
