import { err, ok, type Result } from '@assay-mcp/kit/result';
import { type FunctionFacts, isRecord, type Manifest } from './function-messages.ts';
import { TOOL_MARK } from './define-tool.ts';
import { formatThrown, tryTo } from './fault-text.ts';
import { parse, stringify } from './harden-globals.ts';
import { truncateText } from '@assay-mcp/kit/shorten';
import { MAX_TIMER_MS } from '@assay-mcp/kit/timer';

type Fields = Readonly<Record<string, unknown>>;

/** A tool of the module, ready to run. */
export interface ReadTool {
  readonly facts: FunctionFacts;
  readonly input: ReadSchema;
  readonly output: ReadSchema | undefined;
  /** The tool itself, which is also `this` in its `run`. */
  readonly fields: Fields;
}

export interface ReadTools {
  readonly tools: ReadonlyMap<string, ReadTool>;
  readonly skipped: Manifest['skipped'];
  /** From the copy of zod that the module uses. */
  readonly writeZod: WriteZod | undefined;
}

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const NO_ARGUMENTS: Fields = { type: 'object', additionalProperties: false };

/** The tools that a module exports. Unusable ones are skipped. */
export function readExportedTools(exported: Fields, writeZod: WriteZod | undefined): ReadTools {
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

/** Possible tools by export name, each only once. */
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
  if (!isRecord(fields)) return err('is not a tool: make it with defineTool');
  const { name, title, description, annotations, timeoutMs, run } = fields;
  if (typeof name !== 'string') return err('has no name: make it with defineTool');
  if (!NAME.test(name))
    return err(
      `has the name ${stringify(truncateText(name, 200))}; a name has 1 to 128 letters, digits, "_", "-" or "."`,
    );
  if (typeof run !== 'function') return err('has no function "run"');
  if (title !== undefined && typeof title !== 'string') return err('has a title that is not text');
  if (description !== undefined && typeof description !== 'string')
    return err('has a description that is not text');
  const hints: unknown = annotations === undefined ? undefined : parse(stringify(annotations));
  if (hints !== undefined && !isRecord(hints)) return err('has annotations that are not an object');
  if (hints?.['readOnlyHint'] === true && hints['destructiveHint'] === true)
    return err(
      'has annotations that contradict each other: readOnlyHint and destructiveHint are both true; set one of them to false',
    );
  if (
    timeoutMs !== undefined &&
    !(typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS)
  )
    return err('has a timeoutMs that is not a positive number of milliseconds');
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

/** A schema as clients see it, with its parser. */
interface ReadSchema {
  readonly json: Fields;
  /** Undefined if values are passed on unparsed. The error is a text for the model. */
  readonly parse: ((value: unknown) => Promise<Result<unknown, string>>) | undefined;
}

/** zod's own conversion to JSON Schema. */
export type WriteZod = (schema: unknown, options: { readonly io: Side }) => unknown;
type Side = 'input' | 'output';

interface Reading {
  readonly side: Side;
  /** The word for a part of the value in errors: `argument`, `member`. */
  readonly part: string;
  readonly writeZod: WriteZod | undefined;
}

/** Reads a zod schema or JSON Schema. The error is a phrase that says why it cannot be used. */
export function readSchema(given: unknown, reading: Reading): Result<ReadSchema, string> {
  if (!isRecord(given) && typeof given !== 'function') return err('is not a schema');
  const standard = tryTo(() => (given as Fields)['~standard']);
  if (!isRecord(standard)) {
    const json = ofObject(given);
    return json.ok ? ok({ json: json.value, parse: undefined }) : json;
  }
  const written = writtenOf(given, standard, reading);
  if (!written.ok) return written;
  const json = ofObject(written.value);
  if (!json.ok) return json;
  return ok({ json: json.value, parse: (value) => parsed(standard, value, reading.part) });
}

function writtenOf(given: unknown, standard: Fields, { side, writeZod }: Reading): Result<unknown, string> {
  try {
    const { jsonSchema } = standard;
    const writer = isRecord(jsonSchema) ? jsonSchema[side] : undefined;
    if (typeof writer === 'function')
      return ok(Reflect.apply(writer, jsonSchema, [{ target: 'draft-2020-12' }]) as unknown);
    if (tryTo(() => (given as Fields)['_zod']) !== undefined && writeZod !== undefined)
      return ok(writeZod(given, { io: side }));
  } catch (error) {
    return err(`cannot be told as JSON Schema: ${formatThrown(error, { folder: '/dev/null' })}`);
  }
  return err(
    `is a schema of ${String(standard['vendor'])} that cannot tell itself as JSON Schema; zod 4 can`,
  );
}

/** MCP requires `type: "object"`. It is added to a choice or reference that lacks it. */
function ofObject(schema: unknown): Result<Fields, string> {
  const text = tryTo(() => stringify(schema) as string | undefined); // undefined for a function
  if (text === undefined) return err('cannot be written as JSON');
  const json: unknown = parse(text);
  if (!isRecord(json)) return err('is not a schema of an object');
  const isChoice = ['anyOf', 'oneOf', 'allOf', '$ref'].some((keyword) => keyword in json);
  if (json['type'] === undefined && isChoice) return ok({ type: 'object', ...json });
  return json['type'] === 'object'
    ? ok(json)
    : err('is not a schema of an object: its "type" is not "object"');
}

async function parsed(standard: Fields, value: unknown, part: string): Promise<Result<unknown, string>> {
  const { validate } = standard;
  if (typeof validate !== 'function') return ok(value);
  const found = (await Reflect.apply(validate, standard, [value])) as unknown;
  if (!isRecord(found)) return ok(value);
  const { issues } = found;
  return Array.isArray(issues)
    ? err(issues.map((issue) => fieldError(issue, part)).join('\n'))
    : ok(found['value']);
}

function fieldError(issue: unknown, part: string): string {
  const { path, message } = isRecord(issue) ? issue : {};
  const keys = Array.isArray(path)
    ? path.map((key: unknown) => String(isRecord(key) ? key['key'] : key))
    : [];
  const what = keys.length === 0 ? `the ${part}s do` : `the ${part} ${stringify(keys.join('.'))} does`;
  return `${what} not fit: ${String(message)}`.replace(/^./, (first) => first.toUpperCase());
}
