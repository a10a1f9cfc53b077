import { z, type OpenAPIHono } from '@hono/zod-openapi';
import { restStatusOf } from '../../core/errors.ts';
import type { RefusalCode } from '../../core/refusal.ts';
import { scopeOf } from './answer-route.ts';
import { PROBLEM_TYPE, titleOf } from './failure.ts';
import { PAGE_LIMITS } from './paging.ts';
import type { Route, RouteSpec } from './route.ts';

type Registry = OpenAPIHono['openAPIRegistry'];
type Description = Parameters<Registry['registerPath']>[0];
type Spec = RouteSpec<z.ZodType, z.ZodType>;

const PROBLEM = z
  .object({
    type: z.string().openapi({ description: 'Description of the code; relative to the request URL.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().openapi({ description: 'What happened, why, and what to do.' }),
    instance: z.string(),
    code: z.string().openapi({ description: 'Stable: programs may rely on it.' }),
    causeCode: z
      .string()
      .optional()
      .openapi({ description: 'Code of the cause, if `detail` names one; docs/CAUSES.md lists all.' }),
    errors: z
      .array(
        z.object({
          pointer: z
            .string()
            .optional()
            .openapi({ description: 'JSON pointer (RFC 6901) into the request body.' }),
          parameter: z.string().optional().openapi({ description: 'Name of the query parameter.' }),
          detail: z.string(),
          code: z.string(),
        }),
      )
      .optional(),
  })
  .openapi('Problem', { description: 'An error (RFC 9457).' });

/** Registers the parts that all routes share. */
export function describeCommon(registry: Registry): void {
  registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description:
      'A token from `assay token create NAME --scope admin`, or the one in `$ASSAY_HOME/admin-token`.',
  });
}

/** Adds a route to the document. */
export function describeRoute(registry: Registry, { spec }: Route): void {
  const { method, path, id, summary, body } = spec;
  const scope = scopeOf(spec);
  const request = {
    ...(path.includes('{') && { params: paramsOf(path) }),
    query: queryOf(spec),
    ...(spec.isConditional === true && { headers: z.object({ 'if-match': IF_MATCH }) }),
    ...(body !== undefined && {
      body: {
        required: true,
        ...(body.ignores !== undefined && { description: ignoredText(body.ignores) }),
        content: { 'application/json': { schema: body.schema, examples: examplesOf(body.examples) } },
      },
    }),
  };
  registry.registerPath({
    method,
    path,
    operationId: id,
    summary,
    description: [spec.about, `Requires a token with the scope \`${scope}\`.`].filter(Boolean).join('\n\n'),
    tags: [path.split('/')[1] ?? ''],
    security: [{ bearer: [] }],
    request,
    responses: { ...goodResponse(spec), ...badResponses(spec) },
  } as Description);
}

function ignoredText(ignores: ReadonlySet<string>): string {
  return `Accepted for compatibility with clients of other gateways, but ignored and listed in \`warnings\` of the response: ${[...ignores].join(', ')}.`;
}

const IF_MATCH = z.string().optional().openapi({
  description:
    'The ETag from reading the resource. If it has changed since, the request is refused with 412.',
});

function paramsOf(path: string): z.ZodObject {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
}

function queryOf({ query, isPaged = false }: Spec): z.ZodObject {
  const members = query instanceof z.ZodObject ? query.shape : {};
  const { max, defaultValue } = PAGE_LIMITS;
  const limit = z.int().min(1).max(max).default(defaultValue);
  const cursor = z.string().optional().openapi({ description: '`nextCursor` of the previous page.' });
  return z.object({ ...members, ...(isPaged && { limit, cursor }) });
}

function examplesOf(
  examples: Readonly<Record<string, unknown>>,
): Record<string, { readonly value: unknown }> {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}

function goodResponse({ method, answer }: Spec): Record<string, unknown> {
  const { status = 200, about, schema, example, type = 'application/json' } = answer;
  const content = schema && { [type]: { schema, ...(example !== undefined && { example }) } };
  const good = { [status]: { description: about, ...(content && { content }) } };
  const isOne = method === 'get' && status === 200 && schema instanceof z.ZodObject;
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

function badResponses({ body, isPaged, isConditional, refusals = [] }: Spec): Record<string, unknown> {
  const codes = new Set<RefusalCode>([
    ...COMMON,
    ...(body === undefined ? [] : OF_BODIES),
    ...(isPaged === true ? ['CURSOR_INVALID' as const] : []),
    ...(isConditional === true ? ['PRECONDITION_FAILED' as const] : []),
    ...refusals,
  ]);
  const byStatus = Map.groupBy(codes, restStatusOf);
  return Object.fromEntries([...byStatus].map(([status, some]) => [status, badResponse(status, some)]));
}

function badResponse(status: number, codes: readonly RefusalCode[]): unknown {
  const examples = codes.map((code) => [code, { value: exampleOf(code, status) }] as const);
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    content: { [PROBLEM_TYPE]: { schema: PROBLEM, examples: Object.fromEntries(examples) } },
  };
}

function exampleOf(code: RefusalCode, status: number): unknown {
  const title = titleOf(code);
  return { type: `/docs/errors#${code}`, title, status, detail: `${title}: …`, instance: '/…', code };
}
