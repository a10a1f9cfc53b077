import { isRecord, type FunctionFacts, type Manifest } from '../core/sources/function-messages.ts';
import { err, ok, type Result } from '../core/result.ts';
import { readSchema, type ReadSchema, type WriteZod } from './schema-of.ts';
import { tryTo } from './fault-text.ts';
import { parse, stringify } from './kept.ts';
import { TOOL_MARK } from './tool-mark.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A tool of the module, as it is run. */
export interface ReadTool {
  readonly facts: FunctionFacts;
  readonly input: ReadSchema;
  readonly output: ReadSchema | undefined;
  /** The tool itself, whose `run` is called on it. */
  readonly fields: Fields;
}

export interface ReadTools {
  readonly tools: ReadonlyMap<string, ReadTool>;
  readonly skipped: Manifest['skipped'];
  /** Of the zod that its schemas are of. */
  readonly writeZod: WriteZod | undefined;
}

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const NO_ARGUMENTS: Fields = { type: 'object', additionalProperties: false };

/** The tools that a module exports; one that cannot be used costs no other. */
export function exportedTools(exported: Fields, writeZod: WriteZod | undefined): ReadTools {
  const tools = new Map<string, ReadTool>();
  const skipped: { what: string; why: string }[] = [];
  for (const [what, fields] of candidatesOf(exported)) {
    const read = tryTo(() => readTool(fields, writeZod)) ?? err('cannot be looked at');
    if (!read.ok) skipped.push({ what, why: read.error });
    else if (tools.has(read.value.facts.name))
      skipped.push({
        what,
        why: `another tool of the module is called ${stringify(read.value.facts.name)}`,
      });
    else tools.set(read.value.facts.name, read.value);
  }
  return { tools, skipped, writeZod };
}

/** Each once, with the name that it is exported by. */
function candidatesOf(exported: Fields): ReadonlyMap<string, unknown> {
  const found = new Map<unknown, string>();
  const add = (value: unknown, what: string): void => {
    if (!found.has(value)) found.set(value, what);
  };
  const whole = exported['default'];
  if (isTool(whole) || (isRecord(whole) && typeof tryTo(() => whole['run']) === 'function'))
    add(whole, 'default');
  else if (tryTo(() => Array.isArray(whole)) === true)
    for (const [index, one] of (whole as readonly unknown[]).entries()) add(one, `default[${index}]`);
  else if (isRecord(whole))
    for (const key of Object.keys(whole))
      add(
        tryTo(() => whole[key]),
        `default.${key}`,
      );
  for (const key of Object.keys(exported)) if (isTool(exported[key])) add(exported[key], key);
  return new Map([...found].map(([value, what]) => [what, value]));
}

function isTool(value: unknown): boolean {
  return isRecord(value) && tryTo(() => (value as { readonly [TOOL_MARK]?: unknown })[TOOL_MARK]) === true;
}

function readTool(fields: unknown, writeZod: WriteZod | undefined): Result<ReadTool, string> {
  if (!isRecord(fields)) return err('is no tool: make it with defineTool');
  const { name, title, description, annotations, timeoutMs, run } = fields;
  if (typeof name !== 'string') return err('has no name: make it with defineTool');
  if (!NAME.test(name))
    return err(
      `has the name ${stringify(name.slice(0, 200))}; a name has 1 to 128 letters, digits, "_", "-" or "."`,
    );
  if (typeof run !== 'function') return err('has no function "run"');
  if (title !== undefined && typeof title !== 'string') return err('has a title that is no text');
  if (description !== undefined && typeof description !== 'string')
    return err('has a description that is no text');
  const hints: unknown = annotations === undefined ? undefined : parse(stringify(annotations));
  if (hints !== undefined && !isRecord(hints)) return err('has annotations that are no object');
  if (hints?.['readOnlyHint'] === true && hints['destructiveHint'] === true)
    return err(
      'has annotations that contradict each other: readOnlyHint and destructiveHint are both true; set one of them to false',
    );
  if (
    timeoutMs !== undefined &&
    !(typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= 2 ** 31 - 1)
  )
    return err('has a timeoutMs that is no positive number of milliseconds');
  const input: Result<ReadSchema, string> =
    fields['input'] === undefined
      ? ok({ json: NO_ARGUMENTS, parse: undefined })
      : readSchema(fields['input'], { side: 'input', part: 'argument', writeZod });
  if (!input.ok) return err(`has an input that ${input.error}`);
  const output: Result<ReadSchema | undefined, string> =
    fields['output'] === undefined
      ? ok(undefined)
      : readSchema(fields['output'], { side: 'output', part: 'member', writeZod });
  if (!output.ok) return err(`has an output that ${output.error}`);
  const facts: FunctionFacts = {
    name,
    title,
    description,
    inputSchema: input.value.json,
    outputSchema: output.value?.json,
    annotations: hints,
    timeoutMs,
  };
  return ok({ facts, input: input.value, output: output.value, fields });
}
