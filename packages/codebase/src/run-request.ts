import { Console } from 'node:console';
import { join, resolve } from 'node:path';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { locateConfig, toConfigEnvironment } from '@assay-mcp/kit/platform/locate-config';
import { locateHome } from '@assay-mcp/kit/platform/locate-home';
import { findUnsafePath, type PathChecks } from '@assay-mcp/kit/platform/path-safety';
import { waitForStop } from '@assay-mcp/kit/platform/stop-signals';
import { formatCount } from '@assay-mcp/kit/counted';
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
      case 'remove':
        return await remove(program, request, refuse);
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
async function serve(program: CodebaseProgram, { stateless, watch }: RequestOf<'serve'>): Promise<number> {
  // stdout carries JSON-RPC only, whatever a library prints.
  globalThis.console = new Console(process.stderr, process.stderr);
  await program.serve({ isStateless: stateless === true, isWatching: watch, stopped: waitForStop() });
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

async function remove(
  { remove }: CodebaseProgram,
  { path, project, json }: RequestOf<'remove'>,
  refuse: (fault: Fault) => number,
): Promise<number> {
  const stopping = new AbortController();
  void waitForStop().then(() => stopping.abort());
  const removed = await withProgress(`removing ${path}`, ({ say }) =>
    remove(
      { path: resolve(path), project },
      { signal: stopping.signal, report: ({ message }) => say(message) },
    ),
  );
  if (!removed.ok) return refuse(removed.error);
  const { path: known, project_id: id, files, withdrawn } = removed.value;
  if (json === true) printJson(removed.value);
  else {
    const rest = withdrawn ? ' Servers may not use this folder any more.' : '';
    print(
      formatProse(
        `Removed ${toPrintable(JSON.stringify(known))} from project ${id}: ${formatCount(files, 'file')}.${rest}`,
      ),
    );
  }
  return DONE;
}

async function search(
  { call }: CodebaseProgram,
  { query, project, type, directory, limit, exact, regex, json }: RequestOf<'search'>,
  refuse: (fault: Fault) => number,
): Promise<number> {
  const args = { query, project_id: project, file_type: type, directory, limit, exact, regex };
  const found = await call('search_code', args, { signal: NEVER, report: () => undefined });
  if (!found.ok) return refuse(found.error);
  const { structured } = found.value;
  const results = Array.isArray(structured['results']) ? structured['results'].filter(isJsonObject) : [];
  if (json === true) printJson(structured);
  else {
    for (const note of Array.isArray(structured['notes']) ? structured['notes'] : [])
      printError(String(note));
    for (const result of results) printResult(result);
  }
  if (results.length === 0) printError(found.value.text);
  return DONE;
}

const NEVER = new AbortController().signal;
/** Prints its location, which terminals turn into a link, and its best lines with their numbers. */
function printResult(result: JsonObject): void {
  const { file_path: path, repository, start_line: line, kind, symbol, content, lines } = result;
  const name = [kind, symbol].filter((part) => typeof part === 'string').join(' ');
  const where = typeof repository === 'string' ? `${repository}: ${String(path)}` : String(path);
  const state = typeof result['state'] === 'string' ? style.yellow(`  ${STATES[result['state']] ?? ''}`) : '';
  print(`${style.cyan(`${toPrintable(where)}:${String(line)}`)}  ${toPrintable(name)}${state}`);
  const numbers = Array.isArray(lines) ? lines : [];
  const width = (process.stdout.columns || 80) - 3;
  for (const [index, text] of String(content).split('\n').entries()) {
    const number = String(numbers[index] ?? '').padStart(6);
    const shown = `${number}  ${toPrintable(text.replaceAll('\t', '  '))}`;
    print(style.dim(truncateToWidth(shown, width)));
  }
  print('');
}

const STATES: Readonly<Record<string, string>> = {
  stale: 'changed since it was indexed',
  missing: 'no longer there',
};

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
  regex: '--regex',
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
