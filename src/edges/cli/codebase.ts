import { Command, InvalidArgumentError, Option } from 'commander';
import { Console } from 'node:console';
import { resolve } from 'node:path';
import { EXIT } from '../../core/errors.ts';
import type { AppOptions } from '../../core/command-options.ts';
import { isJsonObject, type JsonObject } from '../../core/json-object.ts';
import { toPrintable } from '../../core/printable.ts';
import { type Done, withConfig, withHome } from './common-options.ts';
import { print, printError, printJson, formatProse, style } from './output.ts';
import { withProgress } from './progress.ts';
import { truncateToWidth } from './table.ts';
import type { CodebaseFault, CodebaseProgram } from './codebase-program.ts';
import type { Runtime } from './runtime.ts';

/** `assay codebase`: the code-search server, and its tools as commands. */
export function codebaseCommand(runtime: Runtime, done: Done): Command {
  const command = withConfig(new Command('codebase'))
    .description('serve code search on stdin and stdout, for clients that start it')
    .option('--stateless', 'keep no working directory, for a process that several clients share')
    .option(
      '--root <folder>',
      'a folder that clients may index and search; can be repeated (default: the working folder, and those indexed at a terminal)',
      (folder: string, others: readonly string[]) => [...others, folder],
      [],
    )
    .addOption(new Option('--confined <json>', 'set by the gateway that starts it in a sandbox').hideHelp())
    .action(async (options: CodebaseServeOptions) => done(await serveCodebase(runtime, options)));
  const index = new Command('index')
    .argument('<path>', 'the root of a repository')
    .description('index a repository; only new and changed files are read')
    .option('--project <id>', 'project to index into, which is created if needed (default: see search)')
    .option('--force', 'read unchanged files again')
    .action(async (path: string, options: CodebaseIndexOptions) =>
      done(await indexCodebase(runtime, path, { ...command.opts(), ...options })),
    );
  const search = new Command('search')
    .argument('<query...>', 'words, an identifier or a question')
    .description('search indexed code')
    .option('--project <id>', 'project to search (default: that of this folder, else "default")')
    .option('--type <extension>', 'only files with this extension, such as ts')
    .option('--directory <path>', 'only below this directory of the repository')
    .option('--limit <number>', 'maximum number of results, 1 to 50', whole, 10)
    .action(async (words: readonly string[], options: CodebaseSearchOptions) =>
      done(await searchCodebase(runtime, words.join(' '), { ...command.opts(), ...options })),
    );
  for (const inner of [index, search]) command.addCommand(withHome(inner).option('--json', 'print JSON'));
  return command;
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is not a whole number.');
  return Number(text);
}

interface CodebaseServeOptions extends AppOptions {
  readonly stateless?: boolean;
  readonly root?: readonly string[];
  readonly confined?: string;
}

interface SubcommandOptions extends AppOptions {
  readonly project?: string;
  readonly json?: boolean;
}

interface CodebaseIndexOptions extends SubcommandOptions {
  readonly force?: boolean;
}

interface CodebaseSearchOptions extends SubcommandOptions {
  readonly type?: string;
  readonly directory?: string;
  readonly limit: number;
}

/** `assay codebase`. Returns the exit code when the client has closed its side. */
async function serveCodebase(runtime: Runtime, options: CodebaseServeOptions): Promise<number> {
  // stdout carries JSON-RPC only, whatever a library prints.
  globalThis.console = new Console(process.stderr, process.stderr);
  const { root: roots = [] } = options;
  return withProgram(runtime, { ...options, ...(roots.length > 0 && { roots }) }, async ({ serve }) => {
    await serve({ isStateless: options.stateless === true, stopped: runtime.untilStopped() });
    return EXIT.done;
  });
}

/** `assay codebase index PATH` */
function indexCodebase(runtime: Runtime, path: string, options: CodebaseIndexOptions): Promise<number> {
  const args = {
    repo_path: resolve(path),
    project_id: options.project,
    force_reindex: options.force === true,
  };
  return withProgram(runtime, options, async ({ call }) => {
    const stopping = new AbortController();
    void runtime.untilStopped().then(() => stopping.abort());
    const indexed = await withProgress(`indexing ${path}`, ({ say }) =>
      call('index_repository', args, {
        signal: stopping.signal,
        report: ({ message }) => say(message),
      }),
    );
    if (!indexed.ok) return printRefusal(indexed.error);
    const { structured, text, isError } = indexed.value;
    if (options.json === true) printJson(structured);
    else
      print(
        text
          .split('\n')
          .map((line) => formatProse(line))
          .join('\n'),
      );
    return isError === true ? EXIT.failed : EXIT.done;
  });
}

/** `assay codebase search QUERY` */
function searchCodebase(runtime: Runtime, query: string, options: CodebaseSearchOptions): Promise<number> {
  const { project, type, directory, limit } = options;
  const args = { query, project_id: project, file_type: type, directory, limit };
  return withProgram(runtime, options, async ({ call }) => {
    const found = await call('search_code', args, { signal: NEVER, report: () => undefined });
    if (!found.ok) return printRefusal(found.error);
    const { structured } = found.value;
    const results = Array.isArray(structured['results']) ? structured['results'].filter(isJsonObject) : [];
    if (options.json === true) printJson(structured);
    else for (const result of results) printResult(result);
    if (results.length === 0) printError(found.value.text);
    return EXIT.done;
  });
}

const NEVER = new AbortController().signal;
const MAX_LINES = 6;

/** Prints its location, which terminals turn into a link, and its first lines. */
function printResult(result: JsonObject): void {
  const { file_path: path, start_line: line, kind, symbol, content } = result;
  const name = [kind, symbol].filter((part) => typeof part === 'string').join(' ');
  print(`${style.cyan(`${toPrintable(String(path))}:${String(line)}`)}  ${toPrintable(name)}`);
  const lines = String(content).split('\n');
  const width = (process.stdout.columns || 80) - 3;
  for (const text of lines.slice(0, MAX_LINES)) {
    print(style.dim(`  ${truncateToWidth(toPrintable(text.replaceAll('\t', '  ')), width)}`));
  }
  if (lines.length > MAX_LINES) print(style.dim(`  … ${lines.length - MAX_LINES} more lines`));
  print('');
}

async function withProgram(
  runtime: Runtime,
  options: Parameters<Runtime['openCodebase']>[0],
  work: (program: CodebaseProgram) => Promise<number>,
): Promise<number> {
  const opened = await runtime.openCodebase(options);
  if (!opened.ok) return printRefusal(opened.error);
  try {
    return await work(opened.value);
  } finally {
    await opened.value.close();
  }
}

const EXITS: Readonly<Record<string, number>> = {
  VALIDATION_ERROR: EXIT.usage,
  NOT_FOUND: EXIT.usage,
  ACCESS_DENIED: EXIT.usage,
  SETTING_INVALID: EXIT.config,
  NOT_INDEXED: EXIT.unavailable,
  INDEX_BUSY: EXIT.unavailable,
  INDEX_FULL: EXIT.unavailable,
};

/** The remedies of faults name tools; at a terminal, they must name commands. */
const REMEDIES: Readonly<Record<string, string>> = {
  NOT_INDEXED: 'Run `assay codebase index PATH` first.',
};

const OPTIONS: Readonly<Record<string, string>> = {
  repo_path: 'PATH',
  project_id: '--project',
  file_type: '--type',
  directory: '--directory',
  limit: '--limit',
  query: 'QUERY',
};

function printRefusal({ code, field, message, remedy }: CodebaseFault): number {
  const isTerminal = process.stderr.isTTY;
  const where = field === undefined ? '' : `${OPTIONS[field] ?? field}: `;
  const text = toPrintable(`${where}${message} ${REMEDIES[code] ?? remedy}`);
  printError(formatProse(`assay: ${text}`, { isTerminal }));
  return EXITS[code] ?? EXIT.failed;
}
