import { Command } from 'commander';
import { EXIT, getExitCode } from '../../core/errors.ts';
import type { Approval } from '../../api/approval.ts';
import type { CodedProblem } from '../../api/problem.ts';
import type { Tool } from '../../api/tool.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { AppOptions } from '../../core/command-options.ts';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { confirm, isInteractive } from './ask.ts';
import { isObjectText, listArguments, readKeyValues } from './call-arguments.ts';
import { type Done, withConfig } from './common-options.ts';
import { findTool } from './hints.ts';
import {
  formatProse,
  formatTable,
  print,
  printError,
  printJson,
  printText,
  quoteText,
  style,
} from '@assay-mcp/kit/platform/terminal/print';
import { formatHints, printFailure, printRefusal } from './output.ts';
import { withProgress } from '@assay-mcp/kit/platform/terminal/progress';
import type { CallAnswer, Runtime } from './runtime.ts';
import { apiPath, withApi, withApiExit } from './with-api.ts';

/** `assay call` */
export function callCommand(runtime: Runtime, done: Done): Command {
  const command = withConfig(
    new Command('call')
      .usage('[options] <name> [arguments...]')
      .argument('[name]', 'public or namespaced name of the tool')
      .argument('[arguments...]', 'key=value, key:=JSON, or one JSON object')
      .description('call a tool; with --help after its name, show its arguments')
      .option('--json', 'print the whole result as JSON')
      .helpOption(false)
      .option('-h, --help', 'show the arguments of the tool, or this help'),
  );
  return command.action(async (name: string | undefined, words: readonly string[], options: CallOptions) => {
    if (name !== undefined)
      return done(await (options.help === true ? explainTool : callTool)(runtime, { name, words, options }));
    if (options.help !== true) return command.error("error: missing required argument 'name'");
    command.outputHelp();
  });
}

interface CallOptions extends AppOptions {
  readonly json?: boolean;
  readonly help?: boolean;
}

interface CallLine {
  readonly name: string;
  /** The arguments: JSON text, or `key=value`. */
  readonly words: readonly string[];
  readonly options: CallOptions;
}

/** A call that has shown no progress after this many ms may wait for approval. */
const HINT_AFTER_MS = 3_000;

/** `assay call NAME ARGUMENTS`: the text of the result on stdout, progress and errors on stderr. */
async function callTool(runtime: Runtime, line: CallLine): Promise<number> {
  const { name, options } = line;
  const args = await readArguments(runtime, line);
  if (!args.ok) return printFailure(args.error);
  const doing = `calling ${toPrintable(name)}`;
  const over = new AbortController();
  const called = await withProgress(doing, ({ say, pause }) => {
    const isTerminal = process.stderr.isTTY;
    const hint = setTimeout(() => say(`${doing}; does it wait for approval? assay approvals`), HINT_AFTER_MS);
    const onProgress = (text: string): void => {
      clearTimeout(hint);
      if (isTerminal) say(text);
      else printError(toPrintable(text));
    };
    const onWaiting = (id: string): void => {
      clearTimeout(hint);
      say(doing);
      const resume = pause();
      void askToRun(runtime, id, { options, over: over.signal }).finally(resume);
    };
    const request = { name, args: args.value, onProgress, ...(isInteractive() && { onWaiting }) };
    return runtime.callTool(options, request, printError).finally(() => {
      clearTimeout(hint);
      over.abort();
    });
  });
  if (!called.ok) return printRefusal(called.error);
  const isUnknown = called.value.kind === 'refused' && called.value.code === 'TOOL_UNKNOWN';
  return isUnknown ? printUnknown(runtime, line, called.value) : printAnswer(called.value, options);
}

/** `key=value` needs the schema of the tool; one JSON object does not. */
async function readArguments(
  runtime: Runtime,
  { name, words, options }: CallLine,
): Promise<Result<JsonObject, Refusal | CodedProblem>> {
  if (isObjectText(words)) return refuseArguments(readObject(words[0] ?? '{}'));
  const api = await runtime.openApi(options, printError);
  try {
    const tool = await findTool(api, name);
    return tool.ok ? refuseArguments(readKeyValues(words, tool.value.inputSchema)) : tool;
  } finally {
    await api.close();
  }
}

function refuseArguments(read: Result<JsonObject, string>): Result<JsonObject, Refusal> {
  return read.ok ? read : err({ code: 'ARGUMENTS_INVALID', reason: read.error });
}

/** The service that knows all tools suggests the nearest name; what clients are told does not. */
function printUnknown(runtime: Runtime, { name, options }: CallLine, answer: CallAnswer): Promise<number> {
  return withApiExit(runtime, options, async (api) => {
    const found = await findTool(api, name);
    return found.ok ? ok(printAnswer(answer, options)) : found;
  });
}

interface Asking {
  readonly options: CallOptions;
  /** Aborted when the call has ended, for example because somebody answered elsewhere. */
  readonly over: AbortSignal;
}

/** The user at the terminal is the one who would be asked, so they are asked here, at once. */
async function askToRun(runtime: Runtime, id: string, { options, over }: Asking): Promise<void> {
  await withApi(runtime, options, async (api) => {
    const found = await api.send<Approval>({ method: 'GET', path: apiPath`/approvals/${id}` });
    if (!found.ok || found.value.state !== 'pending') return found;
    const { namespacedName, arguments: shown, why } = found.value;
    const note = (text: string): void =>
      printError(formatProse(toPrintable(text), { indent: '  ', isTerminal: true }));
    printError(`${quoteText(namespacedName)} ${toPrintable(shown)}`);
    note(`why: ${why.join(' ')}`);
    const isApproved = await confirm('Run it?', 'no', over);
    if (over.aborted) return found;
    return isApproved
      ? api.send({ method: 'POST', path: apiPath`/approvals/${id}/approve`, body: { scope: 'once' } })
      : api.send({ method: 'POST', path: apiPath`/approvals/${id}/deny`, body: {} });
  });
}

/** `assay call NAME --help`: what the tool does and which arguments it takes. */
function explainTool(runtime: Runtime, { name, options }: CallLine): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const tool = await findTool(api, name);
    if (!tool.ok) return tool;
    if (options.json === true) printJson(tool.value);
    else printHelp(tool.value);
    return tool;
  });
}

function printHelp(tool: Tool): void {
  const { name, description = '', inputSchema } = tool;
  const all = listArguments(inputSchema);
  const usage = all.map(({ name: key, isRequired }) => (isRequired ? `${key}=…` : `[${key}=…]`));
  print(style.bold(toPrintable(name)));
  for (const text of description.split('\n')) print(formatProse(toPrintable(text), { indent: '  ' }));
  print(`  ${formatHints(tool)}\n`);
  print(formatProse(toPrintable(['assay call', name, ...usage].join(' '))));
  if (all.length === 0) return print('\nIt takes no arguments.');
  const rows = all.map((one) => [
    one.name,
    one.type,
    one.isRequired ? 'yes' : '',
    one.description.replaceAll(/\s+/g, ' '),
  ]);
  print(`\n${formatTable(['ARGUMENT', 'TYPE', 'REQUIRED', 'DESCRIPTION'], rows)}`);
}

function printAnswer(called: CallAnswer, { json }: CallOptions): number {
  if (called.kind === 'refused') {
    printError(`assay: ${called.message}`);
    return getExitCode(called);
  }
  if (called.kind === 'error') {
    if (json === true) printJson({ error: called.error });
    printError(`assay: the server answered: ${toPrintable(JSON.stringify(called.error['message']))}`);
    return EXIT.failed;
  }
  if (json === true) printJson(called.result);
  else printText(textOf(called.result));
  return called.result['isError'] === true ? EXIT.toolError : EXIT.done;
}

function readObject(text: string): Result<JsonObject, string> {
  const hint = 'write key=value, or one JSON object such as \'{"path":"/tmp"}\'';
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? ok(value) : err(hint);
  } catch (error) {
    return err(`they are not JSON: ${error instanceof Error ? error.message : String(error)}; ${hint}`);
  }
}

/** A result's content for display: its texts, and a placeholder for everything else. */
function textOf(result: JsonObject): string {
  const { content } = result;
  if (!Array.isArray(content)) return JSON.stringify(result, undefined, 2);
  return content
    .map((block: unknown) => {
      const { type, text, mimeType } = (
        typeof block === 'object' && block !== null ? block : {}
      ) as JsonObject;
      if (type === 'text' && typeof text === 'string') return text;
      return `[${String(type)}${typeof mimeType === 'string' ? ` ${mimeType}` : ''}: --json shows it]`;
    })
    .join('\n');
}
