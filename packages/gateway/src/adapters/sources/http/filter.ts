import { createRequire } from 'node:module';
import type * as jmespath from '@jmespath-community/jmespath';
import { parseExactJson } from '@assay-mcp/kit/canonical-json';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isDeeper } from '@assay-mcp/kit/json-object';
import { truncateText } from '@assay-mcp/kit/shorten';

/** Why a filter gave no result. */
export type FilterFault =
  | { readonly code: 'not_json' | 'answer_too_deep' | 'result_too_deep' | 'queue_full' }
  | { readonly code: 'not_fitting'; readonly reason: string }
  | { readonly code: 'result_too_large'; readonly maxCharacters: number }
  | { readonly code: 'too_slow'; readonly limitMs: number }
  | { readonly code: 'out_of_memory'; readonly limitMiB: number }
  | { readonly code: 'process_ended'; readonly cause: string };

export interface FilterTask {
  /** A JMESPath expression. */
  readonly expression: string;
  /** JSON text. */
  readonly text: string;
  /** A longer result is refused. */
  readonly maxCharacters: number;
}

const MAX_EXPRESSION_LENGTH = 4_096;
/** Levels of the syntax tree; each part of an expression takes two. Handwritten expressions have ten. */
const MAX_TREE_DEPTH = 600;

/** What is wrong with a JMESPath expression, as a phrase. Undefined if it is usable. */
export function findFilterFault(expression: string): string | undefined {
  const parsed = parse(expression);
  return parsed.ok ? undefined : parsed.error;
}

/** JSON text of what the expression selects. Its work is unbounded, so only the filter process calls this. */
export function applyFilter({ expression, text, maxCharacters }: FilterTask): Result<string, FilterFault> {
  if (nestsTooDeeply(text)) return err({ code: 'answer_too_deep' });
  const read = parseExactJson(text);
  if (read === undefined) return err({ code: 'not_json' });
  const parsed = parse(expression);
  if (!parsed.ok) return err({ code: 'not_fitting', reason: parsed.error });
  try {
    // Parsed from JSON. Yet an expression can reach other values, such as the methods of every object.
    const value = library().TreeInterpreter.search(parsed.value, read.value as jmespath.JSONValue);
    const selected = (JSON.stringify(value) as string | undefined) ?? 'null';
    if (selected.length > maxCharacters) return err({ code: 'result_too_large', maxCharacters });
    return nestsTooDeeply(selected) ? err({ code: 'result_too_deep' }) : ok(selected);
  } catch (error) {
    // A string or array beyond the engine's limit, or nesting beyond the stack.
    if (error instanceof RangeError) return err({ code: 'result_too_large', maxCharacters });
    return err({ code: 'not_fitting', reason: truncateText(messageOf(error), MAX_REASON_LENGTH) });
  }
}

const MAX_REASON_LENGTH = 1_000;

type Tree = ReturnType<typeof jmespath.compile>;

function parse(expression: string): Result<Tree, string> {
  if (expression.length > MAX_EXPRESSION_LENGTH)
    return err(`the expression is longer than ${MAX_EXPRESSION_LENGTH} characters`);
  const { compile, getRegisteredFunctions } = library();
  try {
    const tree = compile(expression);
    if (isDeeper(tree, MAX_TREE_DEPTH)) return err(TOO_DEEP);
    // Look up functions now rather than in the middle of a call.
    const unknown = unknownFunction(tree, new Set(getRegisteredFunctions()));
    return unknown === undefined ? ok(tree) : err(`unknown function ${JSON.stringify(unknown)}`);
  } catch (error) {
    return err(error instanceof RangeError ? TOO_DEEP : messageOf(error));
  }
}

const TOO_DEEP = 'the expression is nested too deeply';

let loaded: typeof jmespath | undefined;

function library(): typeof jmespath {
  // Loaded synchronously on first use: most tools have no filter.
  return (loaded ??= createRequire(import.meta.url)('@jmespath-community/jmespath') as typeof jmespath);
}

function unknownFunction(node: unknown, known: ReadonlySet<string>): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  if ('type' in node && node.type === 'Function' && 'name' in node && !known.has(String(node.name)))
    return String(node.name);
  // A literal holds a value, not expression nodes.
  if ('type' in node && node.type === 'Literal') return undefined;
  for (const part of Object.values(node)) {
    const found = unknownFunction(part, known);
    if (found !== undefined) return found;
  }
  return undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Nested objects and lists. Real answers have fewer levels, and stacks overflow at a few thousand. */
export const MAX_DEPTH = 1_000;

/** Whether a JSON text nests deeper than `MAX_DEPTH`. Scans the text, as parsing could overflow the stack. */
export function nestsTooDeeply(text: string): boolean {
  let level = 0;
  for (const [mark] of text.matchAll(MARKS)) {
    if (mark === '[' || mark === '{') level += 1;
    else if (mark === ']' || mark === '}') level -= 1;
    if (level > MAX_DEPTH) return true;
  }
  return false;
}

/** Brackets; strings are matched whole to skip the brackets inside them. */
const MARKS = /[[\]{}]|"[^"\\]*(?:\\[^][^"\\]*)*"?/g;

interface Filtering {
  readonly expression: string;
  /** How messages name the request. */
  readonly request: string;
  /** The answer. */
  readonly text: string;
}

/** Why a filter gave no result, as a sentence for the model. A possible effect of the request is mentioned first. */
export function formatFilterFault(fault: FilterFault, { expression, request, text }: Filtering): string {
  const filter = `its filter ${shownExpression(expression)}`;
  const done = `The request ${request} was carried out, but`;
  switch (fault.code) {
    case 'not_json':
      return `The filter works on JSON, which the answer to ${request} is not. ${quoteAnswer(text)}`;
    case 'not_fitting':
      return `The filter does not fit the answer to ${request}: ${fault.reason}. ${quoteAnswer(text)}`;
    case 'answer_too_deep':
      return `${done} its answer nests deeper than ${MAX_DEPTH} levels, which is not read.`;
    case 'result_too_deep':
      return `${done} ${filter} gives a result nested deeper than ${MAX_DEPTH} levels. ${SIMPLIFY}`;
    case 'result_too_large':
      return `${done} ${filter} gives more than the allowed ${fault.maxCharacters} characters. ${SIMPLIFY}`;
    case 'too_slow':
      return `${done} ${filter} did not finish within ${fault.limitMs / 1_000} s and was stopped. ${SIMPLIFY}`;
    case 'out_of_memory':
      return `${done} ${filter} needed more than ${fault.limitMiB} MiB of memory and was stopped. ${SIMPLIFY}`;
    case 'queue_full':
      return `${done} ${filter} was not applied, because too many responses are waiting for filters. Try again later.`;
    case 'process_ended':
      return `${done} ${filter} was not applied: the process that evaluates filters ${fault.cause}.`;
  }
}

const SIMPLIFY = 'Simplify the filter, or request less.';

const MAX_SHOWN = 100;

function shownExpression(expression: string): string {
  const isLong = expression.length > MAX_SHOWN;
  return `${JSON.stringify(truncateText(expression, MAX_SHOWN))}${isLong ? '…' : ''}`;
}

/** In characters: enough for a model to learn why something failed. */
const MAX_LENGTH = 10_000;

/** A server's answer as a separate block, cut after `MAX_LENGTH` characters. */
export function quoteAnswer(text: string): string {
  if (text.length <= MAX_LENGTH) return `It said:\n\n${text}`;
  const start = truncateText(text, MAX_LENGTH);
  return `It said:\n\n${start}\n\n[cut after ${MAX_LENGTH} of ${text.length} characters]`;
}
