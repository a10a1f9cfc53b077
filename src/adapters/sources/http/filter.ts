import { createRequire } from 'node:module';
import type * as jmespath from '@jmespath-community/jmespath';
import { err, ok, type Result } from '../../../core/result.ts';

/** Makes of a JSON value what is wanted of it. The error is what the expression says of itself. */
export type Filter = (value: unknown) => Result<unknown, string>;

const LONGEST_EXPRESSION = 4_096;

/** Reads a JMESPath expression; its functions are looked up now and not in the middle of a call. */
export function compileFilter(expression: string): Result<Filter, string> {
  if (expression.length > LONGEST_EXPRESSION)
    return err(`the expression is longer than ${LONGEST_EXPRESSION} characters`);
  const { compile, getRegisteredFunctions, TreeInterpreter } = (library ??= load());
  try {
    const tree = compile(expression);
    const unknown = unknownFunction(tree, new Set(getRegisteredFunctions()));
    if (unknown !== undefined) return err(`there is no function ${JSON.stringify(unknown)}`);
    return ok((value) => {
      try {
        // It was read as JSON.
        return ok(TreeInterpreter.search(tree, value as jmespath.JSONValue) ?? null);
      } catch (error) {
        return err(messageOf(error));
      }
    });
  } catch (error) {
    return err(messageOf(error));
  }
}

let library: typeof jmespath | undefined;

function load(): typeof jmespath {
  // Synchronous, and at no start: most tools have no filter.
  return createRequire(import.meta.url)('@jmespath-community/jmespath') as typeof jmespath;
}

function unknownFunction(node: unknown, known: ReadonlySet<string>): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  if ('type' in node && node.type === 'Function' && 'name' in node && !known.has(String(node.name)))
    return String(node.name);
  // A literal holds a value and no part of the expression.
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
