import { Argument, Command } from 'commander';
import { EXIT } from '../../core/errors.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { isPlainWord } from '@assay-mcp/kit/shell-argument';
import { getEntryName } from '../../gateway/services/toolsets/tool-index.ts';
import type { AppOptions } from '../../core/command-options.ts';
import type { Done } from './common-options.ts';
import { completeLastWord, type NameKind } from './complete-words.ts';
import { COMPLETION_SCRIPTS, type Shell } from './completion-scripts.ts';
import { printText } from '@assay-mcp/kit/platform/terminal/print';
import type { Runtime } from './runtime.ts';

/** `assay completion` */
export function completionCommand(_runtime: Runtime, done: Done): Command {
  const shell = new Argument('<shell>').choices(['bash', 'zsh', 'fish']);
  return new Command('completion')
    .addArgument(shell)
    .description('print a shell completion script')
    .action((name: Shell) => done(printCompletion(name)));
}

/** The command that the completion scripts call at each tab. */
export function completeCommand(runtime: Runtime, done: Done): Command {
  return new Command('complete')
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: readonly string[], _options: unknown, { parent }: Command) => {
      if (parent !== null) done(await completeWords(runtime, parent, words));
    });
}

/** `assay completion SHELL`: the script on stdout. It calls `assay complete -- WORDS` at each tab. */
function printCompletion(shell: Shell): number {
  printText(COMPLETION_SCRIPTS[shell]);
  return EXIT.done;
}

/** The scripts use the protocol of cobra: one candidate per line, then a directive. */
const NO_FILES = ':4';
const FILES = ':0';
const MAX_CANDIDATES = 1_000;

/** `assay complete -- WORDS`: completions of the last word. Only plain words: a shell inserts them as they are. */
async function completeWords(runtime: Runtime, program: Command, words: readonly string[]): Promise<number> {
  const { expected, options } = completeLastWord(program, words);
  const last = words.at(-1) ?? '';
  if (expected.kind === 'files') printText(FILES);
  else {
    const known =
      expected.kind === 'words'
        ? expected.words
        : [
            ...expected.also,
            ...(await namesOf(runtime, expected.kind, options)).map((text) => ({ text, about: '' })),
          ];
    const fitting = known
      .filter(({ text }) => text.startsWith(last) && isPlainWord(text))
      .slice(0, MAX_CANDIDATES);
    for (const { text, about } of fitting) printText(`${text}\t${toPrintable(about)}`);
    printText(NO_FILES);
  }
  return EXIT.done;
}

/** From the catalog as last listed; no server is started. Empty if it cannot be read. */
async function namesOf(runtime: Runtime, kind: NameKind, options: AppOptions): Promise<readonly string[]> {
  if (kind === 'clients') return runtime.clients.map(({ id }) => id);
  const opened = await runtime.openOnboarding({ ...options, writeLog: () => undefined });
  if (!opened.ok) return [];
  const { catalog, toolsets, close } = opened.value;
  try {
    const { entries } = catalog.all.listing('tools');
    if (kind === 'servers') return catalog.servers.map(({ spec }) => spec.name);
    if (kind === 'tools') return entries.map(({ key }) => key);
    if (kind === 'refs') return entries.map(getEntryName);
    return toolsets.all.map(({ name }) => name);
  } finally {
    await close();
  }
}
