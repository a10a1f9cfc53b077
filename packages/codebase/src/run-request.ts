import { Console } from 'node:console';
import { join, resolve } from 'node:path';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { locateConfig, toConfigEnvironment } from '@assay-mcp/kit/platform/locate-config';
import { locateHome } from '@assay-mcp/kit/platform/locate-home';
import { findUnsafePath, type PathChecks } from '@assay-mcp/kit/platform/path-safety';
import { waitForStop } from '@assay-mcp/kit/platform/stop-signals';
import type { CodebaseRequest } from '@assay-mcp/kit/platform/terminal/codebase-command';
import { formatProse, print, printError, printJson, style } from '@assay-mcp/kit/platform/terminal/print';
import { withProgress } from '@assay-mcp/kit/platform/terminal/progress';
import { truncateToWidth } from '@assay-mcp/kit/platform/terminal/table';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Fault, FaultCode } from './fault.ts';
import type { CodebaseProgram } from './open-codebase.ts';

type RequestOf<K extends CodebaseRequest['kind']> = Extract<CodebaseRequest, { readonly kind: K }>;

const DONE = 0;
const FAILED = 1;

/** Does what a command asks for. `calledAs`: the command, for messages. Resolves with the exit code. */
export async function runRequest(request: CodebaseRequest, calledAs: string): Promise<number> {
  const environment = toConfigEnvironment(request);
  const { env, cwd, home: userHome } = environment;
  const served: Partial<RequestOf<'serve'>> = request.kind === 'serve' ? request : {};
  const { root = [], confined } = served;
  const refuse = (fault: Fault): number => printFault(fault, calledAs);
  const home = locateHome(environment);
  const unsafe = confined === undefined ? findUnsafeHome(home, environment) : undefined;
  if (unsafe !== undefined) return refuse(unsafe);
  const { openCodebase } = await import('./open-codebase.ts');
  const opened = openCodebase({
    ...{ env, cwd, userHome, confined, home },
    configPath: locateConfig({ flag: request.config, ...environment }).path,
    roots: root.length > 0 ? root.map((folder) => resolve(cwd, folder)) : undefined,
    calledAs: served.calledAs ?? calledAs,
  });
  if (!opened.ok) return refuse(opened.error);
  const program = opened.value;
  try {
    switch (request.kind) {
      case 'serve':
        return await serve(program, request);
      case 'index':
        return await index(program, request, refuse);
      case 'search':
        return await search(program, request, refuse);
    }
  } finally {
    await program.close();
  }
}

/** Whoever can change the folder of the indexes can read what is indexed. */
function findUnsafeHome(home: string, checks: PathChecks): Fault | undefined {
  const unsafe = findUnsafePath(home, checks) ?? findUnsafePath(join(home, 'codebase'), checks);
  if (unsafe === undefined) return undefined;
  const { at, reason, command } = unsafe;
  return {
    code: 'SETTING_INVALID',
    field: 'ASSAY_HOME',
    message: `${JSON.stringify(at)} ${reason}, so others could read what is indexed.`,
    remedy: `Run \`${command}\`, or set ASSAY_HOME to a folder of your own.`,
  };
}

/** Serves until the client has closed its side. */
async function serve(program: CodebaseProgram, { stateless }: RequestOf<'serve'>): Promise<number> {
  // stdout carries JSON-RPC only, whatever a library prints.
  globalThis.console = new Console(process.stderr, process.stderr);
  await program.serve({ isStateless: stateless === true, stopped: waitForStop() });
  return DONE;
}

async function index(
  { call }: CodebaseProgram,
  { path, project, force, json }: RequestOf<'index'>,
  refuse: (fault: Fault) => number,
): Promise<number> {
  const args = { repo_path: resolve(path), project_id: project, force_reindex: force === true };
  const stopping = new AbortController();
  void waitForStop().then(() => stopping.abort());
  const indexed = await withProgress(`indexing ${path}`, ({ say }) =>
    call('index_repository', args, {
      signal: stopping.signal,
      report: ({ message }) => say(message),
    }),
  );
  if (!indexed.ok) return refuse(indexed.error);
  const { structured, text, isError } = indexed.value;
  if (json === true) printJson(structured);
  else
    print(
      text
        .split('\n')
        .map((line) => formatProse(line))
        .join('\n'),
    );
  return isError === true ? FAILED : DONE;
}

async function search(
  { call }: CodebaseProgram,
  { query, project, type, directory, limit, json }: RequestOf<'search'>,
  refuse: (fault: Fault) => number,
): Promise<number> {
  const args = { query, project_id: project, file_type: type, directory, limit };
  const found = await call('search_code', args, { signal: NEVER, report: () => undefined });
  if (!found.ok) return refuse(found.error);
  const { structured } = found.value;
  const results = Array.isArray(structured['results']) ? structured['results'].filter(isJsonObject) : [];
  if (json === true) printJson(structured);
  else for (const result of results) printResult(result);
  if (results.length === 0) printError(found.value.text);
  return DONE;
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

const USAGE = 2;
const CONFIG = 3;
const UNAVAILABLE = 4;

const EXITS: Readonly<Partial<Record<FaultCode, number>>> = {
  VALIDATION_ERROR: USAGE,
  NOT_FOUND: USAGE,
  ACCESS_DENIED: USAGE,
  SETTING_INVALID: CONFIG,
  NOT_INDEXED: UNAVAILABLE,
  INDEX_BUSY: UNAVAILABLE,
  INDEX_FULL: UNAVAILABLE,
};

const OPTIONS: Readonly<Record<string, string>> = {
  repo_path: 'PATH',
  project_id: '--project',
  file_type: '--type',
  directory: '--directory',
  limit: '--limit',
  query: 'QUERY',
};

/** Returns the exit code. */
function printFault({ code, field, message, remedy }: Fault, calledAs: string): number {
  const isTerminal = process.stderr.isTTY;
  const where = field === undefined ? '' : `${OPTIONS[field] ?? field}: `;
  // The remedies of faults name tools; at a terminal, they must name commands.
  const todo = code === 'NOT_INDEXED' ? `Run \`${calledAs} index PATH\` first.` : remedy;
  const [program = ''] = calledAs.split(' ');
  printError(formatProse(`${program}: ${toPrintable(`${where}${message} ${todo}`)}`, { isTerminal }));
  return EXITS[code] ?? FAILED;
}
