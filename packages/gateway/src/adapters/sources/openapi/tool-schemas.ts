import { isMembers } from '@assay-mcp/kit/canonical-json';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { type ArgumentPlan, flattenSchema, type FlatSchema, planArguments } from './argument-plan.ts';
import { type Documents, type Located, findMemberAt } from './documents.ts';
import type { Operation } from './operations.ts';
import { normalizeMediaType, type Parameter, type RequestBody } from './parameters.ts';
import type { Draft, SchemaDrafts, Shortage } from './schema-definitions.ts';
import type { JsonSchema, SchemaMembers } from './schema-keywords.ts';

/** A tool's argument schema, and where each argument goes. */
interface ToolInput {
  readonly schema: SchemaMembers;
  readonly plan: ArgumentPlan;
  /** Form members given in Base64 and sent as bytes, or the argument that is the whole binary body. */
  readonly binaries: ReadonlySet<string>;
}

interface InputParts {
  readonly parameters: readonly Parameter[];
  readonly body: RequestBody | undefined;
}

/** Conversions of the same document: in full, and without annotations. */
export interface InputDrafts {
  readonly full: SchemaDrafts;
  readonly bare: () => SchemaDrafts;
}

/** In characters. Longer schemas take too much of a model's context. */
const MAX_INPUT_SIZE = 256 * 1024;
const MAX_OUTPUT_SIZE = 64 * 1024;

/** The error is a phrase: why the operation cannot be called. */
export function buildToolInput(parts: InputParts, drafts: InputDrafts): Result<ToolInput, string> {
  const full = assemble(parts, drafts.full, true);
  if (full.ok) return full;
  if (full.error.kind === 'broken') return err(full.error.why);
  const bare = assemble(parts, drafts.bare(), false);
  if (bare.ok) return bare;
  if (bare.error.kind === 'broken') return err(bare.error.why);
  return err(`the schema of its arguments is longer than ${MAX_INPUT_SIZE / 1024} kB`);
}

function assemble(parts: InputParts, drafts: SchemaDrafts, hasWords: boolean): Result<ToolInput, Shortage> {
  const { parameters, body } = parts;
  const given = body?.schema === undefined ? undefined : drafts.draft(body.schema);
  const flat = body === undefined || given === undefined ? undefined : flatOf(body, given, drafts);
  const plan = planArguments(parameters, body !== undefined, flat);
  const properties = new Map<string, JsonSchema>();
  const required: string[] = [];
  let broken: string | undefined;
  for (const { argument, parameter } of plan.slots) {
    const draft: Draft = parameter.schema === undefined ? { schema: {} } : drafts.draft(parameter.schema);
    broken ??= draft.broken;
    properties.set(argument, hasWords ? explained(draft.schema, parameter) : asMembers(draft.schema));
    if (parameter.isRequired) required.push(argument);
  }
  broken ??= given?.broken;
  const base64 = addBody(parts, { plan, given, flat, hasWords, drafts }, { properties, required });
  if (broken !== undefined) return err({ kind: 'broken', why: broken });
  const others = plan.body.kind === 'members' && plan.body.takesOthers ? flat?.others : undefined;
  const all = [...properties.values(), ...(others === undefined ? [] : [others])];
  const definitions = drafts.definitionsOf(all, MAX_INPUT_SIZE);
  if (!definitions.ok) return definitions;
  const schema = {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    // The model should learn of an argument that goes nowhere.
    additionalProperties: others ?? false,
    ...(Object.keys(definitions.value).length > 0 && { $defs: definitions.value }),
  };
  return ok({ schema, plan, binaries: base64 });
}

/** A text or binary body is one argument, whatever its schema. */
function flatOf(body: RequestBody, given: Draft, drafts: SchemaDrafts): FlatSchema | undefined {
  return body.kind === 'text' || body.kind === 'bytes' ? undefined : flattenSchema(given.schema, drafts);
}

interface BodyInput {
  readonly plan: ArgumentPlan;
  readonly given: Draft | undefined;
  readonly flat: FlatSchema | undefined;
  readonly hasWords: boolean;
  readonly drafts: SchemaDrafts;
}

interface ObjectDraft {
  readonly properties: Map<string, JsonSchema>;
  readonly required: string[];
}

/** Adds the body's arguments; returns the names of Base64 members. */
function addBody(
  { body }: InputParts,
  input: BodyInput,
  { properties, required }: ObjectDraft,
): ReadonlySet<string> {
  const binaries = new Set<string>();
  const { plan, given, flat, hasWords, drafts } = input;
  const isMultipart = body?.kind === 'multipart';
  if (body === undefined || plan.body.kind === 'none') return binaries;
  const asPart = (name: string, schema: JsonSchema): JsonSchema => {
    const base64 = isMultipart ? asBase64(drafts.resolve(schema).schema) : undefined;
    if (base64 !== undefined) binaries.add(name);
    return base64 ?? schema;
  };
  if (plan.body.kind === 'members') {
    for (const { argument, property } of plan.body.members) {
      properties.set(argument, asMembers(asPart(property, flat?.properties.get(property) ?? {})));
      if (body.isRequired && flat?.required.has(property) === true) required.push(argument);
    }
    return binaries;
  }
  const bytes =
    body.kind === 'bytes' ? bodyAsBase64(given && drafts.resolve(given.schema).schema) : undefined;
  if (bytes !== undefined) binaries.add(plan.body.argument);
  let schema = bytes ?? asMembers(given?.schema ?? fallback(body));
  const { properties: inner } = isMultipart ? asMembers(drafts.resolve(schema).schema) : {};
  if (typeof inner === 'object' && inner !== null) {
    const parts = Object.entries(inner as Readonly<Record<string, JsonSchema>>); // as converted
    const whole = asMembers(drafts.resolve(schema).schema);
    const adapted = Object.fromEntries(parts.map(([name, part]) => [name, asPart(name, part)]));
    if (binaries.size > 0) schema = { ...whole, properties: adapted };
  }
  const { description } = body;
  const message = hasWords && description !== undefined && schema['description'] === undefined;
  properties.set(plan.body.argument, message ? { ...schema, description } : schema);
  if (body.isRequired) required.push(plan.body.argument);
  return binaries;
}

function fallback({ kind }: RequestBody): JsonSchema {
  if (kind === 'json') return {};
  return kind === 'text' ? { type: 'string' } : { type: 'object' };
}

/** Some clients do not support the schema `true`. */
function asMembers(schema: JsonSchema): SchemaMembers {
  if (typeof schema === 'object') return schema;
  return schema ? {} : { not: {} };
}

/** A parameter's own description overrides its schema's; its example only fills a gap. */
function explained(schema: JsonSchema, parameter: Parameter): SchemaMembers {
  const { description, isDeprecated, example } = parameter;
  const members = asMembers(schema);
  return {
    ...members,
    ...(description !== undefined && { description }),
    ...(isDeprecated && { deprecated: true }),
    ...(example !== undefined && members['examples'] === undefined && { examples: [example] }),
  };
}

const HOW = 'The content in Base64.';

/** The schema of a binary body, as Base64. Undefined for a body that is sent unchanged. */
function bodyAsBase64(schema: JsonSchema = {}): SchemaMembers | undefined {
  const { contentEncoding, description } = typeof schema === 'object' ? schema : {};
  return contentEncoding === undefined ? base64Of(description) : undefined;
}

/**
 * The schema of a form's file as a Base64 argument. Undefined if the schema is not a file: `format: binary` in 3.0, a
 * `contentMediaType` without `contentEncoding` in 3.1 (3.1.1, section 4.8.14.4.2).
 */
function asBase64(schema: JsonSchema): SchemaMembers | undefined {
  if (typeof schema === 'boolean') return undefined;
  const { type, format, items, contentMediaType, contentEncoding } = schema;
  if (type === 'array' && typeof items === 'object' && items !== null) {
    const each = asBase64(items as SchemaMembers); // as converted
    return each === undefined ? undefined : { ...schema, items: each };
  }
  const isText = type === 'string' || type === undefined;
  const isBytes = typeof contentMediaType === 'string' && contentEncoding === undefined;
  if (!isText || !(format === 'binary' || isBytes)) return undefined;
  const { format: _, description, minLength: __, maxLength: ___, pattern: ____, ...rest } = schema;
  return { ...rest, ...base64Of(description) };
}

function base64Of(description: unknown): SchemaMembers {
  return {
    type: 'string',
    contentEncoding: 'base64',
    description: typeof description === 'string' ? `${sentence(description)} ${HOW}` : HOW,
  };
}

function sentence(text: string): string {
  const trimmed = text.trimEnd();
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

interface Answers {
  /** Media types of successful answers, as written in the document. */
  readonly mediaTypes: readonly string[];
  /** JSON Schema of every successful answer. Undefined if they differ or are not objects. */
  readonly schema?: SchemaMembers | undefined;
}

/**
 * The successful answers of an operation. Clients reject an answer that does not match its schema or lacks the promised
 * structure, so there is a schema only if all successful answers share one.
 */
export function readAnswers(operation: Operation, documents: Documents, drafts: SchemaDrafts): Answers {
  const responses = findMemberAt(operation.located, 'responses');
  const codes = isMembers(responses?.value) ? Object.keys(responses.value) : [];
  const good = codes.filter((code) => /^2(\d\d|XX)$/i.test(code));
  const contents = good.map((code) => contentOf(responses, code, documents));
  const mediaTypes = contents.flatMap((content) =>
    isMembers(content?.value) ? Object.keys(content.value) : [],
  );
  const schemas = contents.map((content) =>
    content === undefined ? undefined : jsonSchemaIn(content, drafts),
  );
  const [first] = schemas;
  const isOne = schemas.every((one) => one !== undefined && JSON.stringify(one) === JSON.stringify(first));
  return { mediaTypes: [...new Set(mediaTypes)], schema: isOne ? first : undefined };
}

function contentOf(responses: Located | undefined, code: string, documents: Documents): Located | undefined {
  const response = responses && findMemberAt(responses, code);
  const end = response && documents.follow(response);
  return end?.ok === true ? findMemberAt(end.value, 'content') : undefined;
}

/** Undefined if the content has no JSON schema of an object. */
function jsonSchemaIn(content: Located, drafts: SchemaDrafts): SchemaMembers | undefined {
  const types = isMembers(content.value) ? Object.keys(content.value) : [];
  const json = types.find((type) => isJson(type));
  const media = json === undefined ? undefined : findMemberAt(content, json);
  const schema = media && findMemberAt(media, 'schema');
  if (schema === undefined) return undefined;
  const drafted = drafts.draft(schema);
  const whole = drafts.resolve(drafted.schema);
  if (drafted.broken !== undefined || whole.broken !== undefined || typeof whole.schema === 'boolean')
    return undefined;
  if (whole.schema['type'] !== 'object') return undefined;
  const definitions = drafts.definitionsOf([whole.schema], MAX_OUTPUT_SIZE);
  if (!definitions.ok) return undefined;
  return {
    ...whole.schema,
    ...(Object.keys(definitions.value).length > 0 && { $defs: definitions.value }),
  };
}

export function isJson(mediaType: string): boolean {
  return /^(application\/json|[^/]+\/[^/]+\+json)$/.test(normalizeMediaType(mediaType));
}
