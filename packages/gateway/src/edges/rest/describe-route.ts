import * as z from 'zod';
import { PROBLEM } from '../../api/problem.ts';
import { getRestStatus } from '../../core/errors.ts';
import type { RefusalCode } from '../../core/refusal.ts';
import { withoutUndefined } from '@assay-mcp/kit/json-object';
import { getRouteScope } from './answer-route.ts';
import { describeOtherForms } from './compat.ts';
import { PROBLEM_TYPE, formatCodeTitle } from './failure.ts';
import { PAGE_LIMITS } from './paging.ts';
import type { Route, RouteSpec } from './route.ts';

type Spec = RouteSpec<z.ZodType, z.ZodType>;

/** The OpenAPI document of the routes, as JSON text. */
export function openApiDocument(routes: readonly Route[], version: string): string {
  const written = new Map<z.ZodType, unknown>();
  const schemas: Record<string, unknown> = {};
  const write: Write = (schema) => {
    const known = written.get(schema);
    if (known !== undefined) return known;
    // Inside of an object, a schema with an id becomes a reference too.
    const { properties, $defs } = z.toJSONSchema(z.object({ it: schema }), {
      io: 'input',
      override: withoutNoise,
    });
    Object.assign(schemas, $defs);
    written.set(schema, properties?.['it']);
    return properties?.['it'];
  };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { spec } of routes) (paths[spec.path] ??= {})[spec.method] = operationOf(spec, write);
  const document = {
    openapi: '3.1.0',
    info: { title: 'Assay', version, description: ABOUT, license: { name: 'MIT' } },
    servers: [{ url: '/' }],
    components: { securitySchemes: { bearer: BEARER }, schemas },
    paths,
  };
  return JSON.stringify(document).replaceAll('"#/$defs/', '"#/components/schemas/');
}

const ABOUT =
  'The REST API of the MCP gateway Assay. Errors are problem documents (RFC 9457); names may be given in snake_case too.';

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description:
    'A token from `assay token create NAME --scopes admin`, or the one in `$ASSAY_HOME/admin-token`.',
};

/** Writes a schema as JSON Schema, or as a reference to a component. */
type Write = (schema: z.ZodType) => unknown;

/** Removes the pattern of a known format, and bounds of integers that JavaScript sets. */
function withoutNoise({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

function operationOf(spec: Spec, write: Write): unknown {
  const { path, id, summary, about, body } = spec;
  const parameters = parametersOf(spec, write);
  return {
    operationId: id,
    summary,
    description: [about, `Requires a token with the scope \`${getRouteScope(spec)}\`.`]
      .filter(Boolean)
      .join('\n\n'),
    tags: [path.split('/')[1] ?? ''],
    security: [{ bearer: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        ...withoutUndefined({ description: describeOtherForms({ path, body }) }),
        content: { 'application/json': { schema: write(body.schema), examples: examplesOf(body.examples) } },
      },
    }),
    responses: { ...goodResponse(spec, write), ...badResponses(spec, write) },
  };
}

const IF_MATCH = z.string().optional().meta({
  description:
    'The ETag from reading the resource. If it has changed since, the request is refused with 412.',
});

const { max, defaultValue } = PAGE_LIMITS;
const PAGING = {
  limit: z.int().min(1).max(max).default(defaultValue),
  cursor: z.string().optional().meta({ description: '`nextCursor` of the previous page.' }),
};

function parametersOf({ path, query, isPaged, isConditional }: Spec, write: Write): readonly unknown[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, z.string()] as const);
  const inQuery = {
    ...(query instanceof z.ZodObject && query.shape),
    ...(isPaged === true && PAGING),
  } as Readonly<Record<string, z.ZodType>>; // The members of an object are schemas.
  const parameters = (
    place: string,
    schemas: readonly (readonly [string, z.ZodType])[],
  ): readonly unknown[] =>
    schemas.map(([name, schema]) => {
      const description = schema.meta()?.description;
      const required = !schema.safeParse(undefined).success;
      return { name, in: place, required, ...(description && { description }), schema: write(schema) };
    });
  return [
    ...parameters('path', inPath),
    ...parameters('query', Object.entries(inQuery)),
    ...(isConditional === true ? parameters('header', [['if-match', IF_MATCH]]) : []),
  ];
}

function examplesOf(
  examples: Readonly<Record<string, unknown>>,
): Record<string, { readonly value: unknown }> {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}

function goodResponse({ method, answer }: Spec, write: Write): Record<string, unknown> {
  const { status = 200, about, schema, example, type = 'application/json' } = answer;
  const content = schema && { [type]: { schema: write(schema), ...(example !== undefined && { example }) } };
  const good = { [status]: { description: about, ...(content && { content }) } };
  const isOne =
    method === 'get' && status === 200 && (schema instanceof z.ZodObject || schema instanceof z.ZodUnion);
  return isOne ? { ...good, 304: { description: 'Not modified since the ETag in If-None-Match.' } } : good;
}

/** Codes that any request may get. */
const COMMON: readonly RefusalCode[] = [
  'TOKEN_REQUIRED',
  'SCOPE_MISSING',
  'TARGET_INVALID',
  'HEADER_INVALID',
  'HOST_FORBIDDEN',
  'ORIGIN_FORBIDDEN',
  'QUERY_INVALID',
  'TOO_MANY_FAILURES',
  'ISSUER_UNAVAILABLE',
  'INTERNAL',
  'STORE_UNAVAILABLE',
  'STORE_MOVED',
  'STORE_STALE',
  'WRITE_UNCONFIRMED',
];
const OF_BODIES: readonly RefusalCode[] = [
  'BODY_NOT_JSON',
  'BODY_TOO_LARGE',
  'MEDIA_TYPE_UNKNOWN',
  'BODY_INVALID',
];

function badResponses(
  { body, isPaged, isConditional, refusals = [] }: Spec,
  write: Write,
): Record<string, unknown> {
  const codes = new Set<RefusalCode>([
    ...COMMON,
    ...(body === undefined ? [] : OF_BODIES),
    ...(isPaged === true ? ['CURSOR_INVALID' as const] : []),
    ...(isConditional === true ? ['PRECONDITION_FAILED' as const] : []),
    ...refusals,
  ]);
  const byStatus = Map.groupBy(codes, getRestStatus);
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => [status, badResponse(status, some, write)]),
  );
}

function badResponse(status: number, codes: readonly RefusalCode[], write: Write): unknown {
  const examples = codes.map((code) => [code, { value: exampleOf(code, status) }] as const);
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    content: { [PROBLEM_TYPE]: { schema: write(PROBLEM), examples: Object.fromEntries(examples) } },
  };
}

function exampleOf(code: RefusalCode, status: number): unknown {
  const title = formatCodeTitle(code);
  return { type: `/docs/errors#${code}`, title, status, detail: `${title}: …`, instance: '/…', code };
}
