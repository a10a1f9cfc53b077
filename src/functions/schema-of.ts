import { isRecord } from '../core/sources/function-messages.ts';
import { err, ok, type Result } from '../core/result.ts';
import { faultText, tryTo } from './fault-text.ts';
import { parse, stringify } from './kept.ts';

type Json = Readonly<Record<string, unknown>>;

/** A schema as clients see it, and what makes of a value that the function gets. */
export interface ReadSchema {
  readonly json: Json;
  /** Undefined: the value is taken as it came. The error is a text for the model. */
  readonly parse: ((value: unknown) => Promise<Result<unknown, string>>) | undefined;
}

/** zod's own writer of JSON Schema. */
export type WriteZod = (schema: unknown, options: { readonly io: Side }) => unknown;
type Side = 'input' | 'output';

export interface Reading {
  readonly side: Side;
  /** How the parts of the value are called: `argument`, `member`. */
  readonly part: string;
  readonly writeZod: WriteZod | undefined;
}

/** The error is a phrase: what it is, and why it cannot be used. */
export function readSchema(given: unknown, reading: Reading): Result<ReadSchema, string> {
  if (!isRecord(given) && typeof given !== 'function') return err('is no schema');
  const standard = tryTo(() => (given as Json)['~standard']);
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

function writtenOf(given: unknown, standard: Json, { side, writeZod }: Reading): Result<unknown, string> {
  try {
    const { jsonSchema } = standard;
    const writer = isRecord(jsonSchema) ? jsonSchema[side] : undefined;
    if (typeof writer === 'function')
      return ok(Reflect.apply(writer, jsonSchema, [{ target: 'draft-2020-12' }]) as unknown);
    if (tryTo(() => (given as Json)['_zod']) !== undefined && writeZod !== undefined)
      return ok(writeZod(given, { io: side }));
  } catch (error) {
    return err(`cannot be told as JSON Schema: ${faultText(error, { folder: '/dev/null' })}`);
  }
  return err(
    `is a schema of ${String(standard['vendor'])} that cannot tell itself as JSON Schema; zod 4 can`,
  );
}

/** MCP wants an object, and says so by `type`; a choice between objects is one as well. */
function ofObject(schema: unknown): Result<Json, string> {
  const text = tryTo(() => stringify(schema) as string | undefined); // undefined for a function
  if (text === undefined) return err('cannot be written as JSON');
  const json: unknown = parse(text);
  if (!isRecord(json)) return err('is no schema of an object');
  const isChoice = ['anyOf', 'oneOf', 'allOf', '$ref'].some((keyword) => keyword in json);
  if (json['type'] === undefined && isChoice) return ok({ type: 'object', ...json });
  return json['type'] === 'object' ? ok(json) : err('is no schema of an object: its "type" is not "object"');
}

async function parsed(standard: Json, value: unknown, part: string): Promise<Result<unknown, string>> {
  const { validate } = standard;
  if (typeof validate !== 'function') return ok(value);
  const found = (await Reflect.apply(validate, standard, [value])) as unknown;
  if (!isRecord(found)) return ok(value);
  const { issues } = found;
  return Array.isArray(issues)
    ? err(issues.map((issue) => misfit(issue, part)).join('\n'))
    : ok(found['value']);
}

function misfit(issue: unknown, part: string): string {
  const { path, message } = isRecord(issue) ? issue : {};
  const keys = Array.isArray(path)
    ? path.map((key: unknown) => String(isRecord(key) ? key['key'] : key))
    : [];
  const what = keys.length === 0 ? `the ${part}s do` : `the ${part} ${stringify(keys.join('.'))} does`;
  return `${what} not fit: ${String(message)}`.replace(/^./, (first) => first.toUpperCase());
}
