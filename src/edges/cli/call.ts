import { Command } from 'commander';
import { EXIT, getExitCode } from '../../core/errors.ts';
import { toPrintable } from '../../core/printable.ts';
import type { AppOptions } from '../../core/command-options.ts';
import { isJsonObject, type JsonObject } from '../../core/json-object.ts';
import { type Done, withConfig } from './common-options.ts';
import { printRefusal, printError, printJson, printText } from './output.ts';
import { withProgress } from './progress.ts';
import type { CallAnswer, Runtime } from './runtime.ts';

/** `assay call` */
export function callCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('call')
      .argument('<name>', 'public or namespaced name of the tool')
      .argument('[arguments]', 'a JSON object', '{}')
      .description('call a tool')
      .option('--json', 'print the whole result as JSON')
      .action(async (name: string, args: string, options: CallOptions['options']) =>
        done(await callTool(runtime, { name, args, options })),
      ),
  );
}

interface CallOptions {
  readonly name: string;
  /** JSON text. */
  readonly args: string;
  readonly options: AppOptions & { readonly json?: boolean };
}

/** A call that has shown no progress after this many ms may wait for approval. */
const HINT_AFTER_MS = 3_000;

/** `assay call NAME JSON`: the text of the result on stdout, progress and errors on stderr. */
async function callTool(runtime: Runtime, { name, args, options }: CallOptions): Promise<number> {
  const given = objectOf(args);
  if (typeof given === 'string') return printRefusal({ code: 'ARGUMENTS_INVALID', reason: given });
  const doing = `calling ${toPrintable(name)}`;
  const called = await withProgress(doing, ({ say }) => {
    const isTerminal = process.stderr.isTTY;
    const hint = setTimeout(() => say(`${doing}; does it wait for approval? assay approvals`), HINT_AFTER_MS);
    const onProgress = (text: string): void => {
      clearTimeout(hint);
      if (isTerminal) say(text);
      else printError(toPrintable(text));
    };
    const request = { name, args: given, onProgress };
    return runtime.callTool(options, request, printError).finally(() => clearTimeout(hint));
  });
  return called.ok ? printAnswer(called.value, options) : printRefusal(called.error);
}

function printAnswer(called: CallAnswer, { json }: CallOptions['options']): number {
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

/** The parsed object, or an error text. */
function objectOf(text: string): JsonObject | string {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : 'they must be one JSON object, such as \'{"path":"/tmp"}\'';
  } catch (error) {
    return `they are not JSON: ${error instanceof Error ? error.message : String(error)}`;
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
