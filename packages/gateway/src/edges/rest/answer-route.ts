import * as z from 'zod';
import type { FieldWarning } from '../../api/warnings.ts';
import { computeShortHash } from '@assay-mcp/kit/digest';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { allows, type Identity, type Scope } from '../../core/subject.ts';
import { toOwnBody, toOwnQuery } from './compat.ts';
import { toFieldError, type Failure } from './failure.ts';
import { PAGE_LIMITS, type PageQuery } from './paging.ts';
import { findRepeatedParameters, type ReadBody, readFields, readQuery } from './read-fields.ts';
import { type JsonRequest, readJson } from './read-json.ts';
import { omitUnchanged } from './unchanged-fields.ts';
import type { BodyLimits, RestCall, Reply, Route } from './route.ts';

/** An HTTP request that matched a route. */
interface MatchedRequest extends JsonRequest {
  readonly identity: Identity;
  readonly param: (name: string) => string;
}

/** Answers an HTTP request. */
export async function answerRoute(
  route: Route,
  { request, memory, identity, param }: MatchedRequest,
): Promise<Result<Response, Failure>> {
  const replied = await replyTo(route, {
    identity,
    param,
    query: new URL(request.url).searchParams,
    readBody: (limits) => readJson({ request, memory }, limits),
    header: (name) => request.headers.get(name) ?? undefined,
    signal: request.signal,
    isHead: request.method === 'HEAD',
  });
  return replied.ok ? ok(responseOf(replied.value, route.spec, request)) : replied;
}

/** A request to a route, over HTTP or from a command in the same process. */
export interface RouteRequest extends Pick<
  RestCall<unknown, unknown>,
  'identity' | 'param' | 'header' | 'signal' | 'isHead'
> {
  readonly query: URLSearchParams;
  readonly readBody: (limits: BodyLimits | undefined) => Promise<Result<unknown, Refusal>>;
}

/** Checks scope, query and body in this order, then answers. */
export async function replyTo(route: Route, request: RouteRequest): Promise<Result<Reply, Failure>> {
  const { spec } = route;
  const scope = getRouteScope(spec);
  if (!allows(request.identity, scope)) return err({ code: 'SCOPE_MISSING', scope });
  const query = readQueryOf(spec, request.query);
  if (!query.ok) return query;
  const body =
    spec.body === undefined ? ok(NO_BODY) : await readBodyOf({ path: spec.path, body: spec.body }, request);
  if (!body.ok) return body;
  const replied = await route.answer(callOf(request, query.value, body.value));
  return replied.ok ? ok(warned(replied.value, body.value)) : err(atField(replied.error, body.value));
}

/** Reports an argument that a service refused at its field in the body. */
function atField(failure: Failure, { pointerTo }: WarnedBody): Failure {
  if ('inputPath' in failure) return { refusal: failure, pointer: pointerTo(failure.inputPath) };
  if (!('code' in failure) || failure.code !== 'ARGUMENTS_INVALID' || failure.field === undefined)
    return failure;
  return toFieldError(pointerTo([failure.field]), failure.reason);
}

export function getRouteScope({ scope, method }: Pick<Route['spec'], 'scope' | 'method'>): Scope {
  return scope ?? (method === 'get' ? 'read' : 'admin');
}

const NO_BODY: WarnedBody = { value: undefined, pointerTo: () => '', warnings: [] };

interface WarnedBody extends ReadBody<unknown> {
  readonly warnings: readonly FieldWarning[];
}

async function readBodyOf(
  spec: Parameters<typeof toOwnBody>[0],
  { readBody, param }: RouteRequest,
): Promise<Result<WarnedBody, Refusal>> {
  const { schema, limits, current } = spec.body;
  const json = await readBody(limits);
  if (!json.ok) return json;
  const shown = await current?.(param);
  const own = toOwnBody(spec, json.value, shown);
  const { value, warnings } = omitUnchanged(own, schema, shown);
  const read = readFields({ ...own, value }, schema);
  return read.ok ? ok({ ...read.value, warnings: [...own.warnings, ...warnings] }) : read;
}

/** Adds warnings to the body. The ETag remains that of the resource. */
function warned(reply: Reply, { warnings }: WarnedBody): Reply {
  if (warnings.length === 0 || reply.kind !== 'one' || !isJsonObject(reply.body)) return reply;
  return { ...reply, body: { ...reply.body, warnings }, of: reply.of ?? reply.body };
}

interface ReadQuery {
  readonly page: PageQuery;
  readonly query: unknown;
}

const WHOLE = /^\d{1,9}$/;
const { max, defaultValue } = PAGE_LIMITS;

/** Query values are always strings. */
const PAGING = {
  limit: z
    .string()
    .refine((text) => WHOLE.test(text) && Number(text) >= 1 && Number(text) <= max, {
      error: `it must be a whole number from 1 to ${max}`,
    })
    .optional(),
  cursor: z.string().optional(),
};

function readQueryOf(spec: Route['spec'], given: URLSearchParams): Result<ReadQuery, Refusal> {
  const members = spec.query instanceof z.ZodObject ? spec.query.shape : {};
  const schema = z.object({ ...members, ...(spec.isPaged === true && PAGING) });
  const fault = findRepeatedParameters(given);
  const read = fault === undefined ? readQuery(toOwnQuery(given, schema), schema) : err(fault);
  if (!read.ok) return read;
  const { limit, cursor } = read.value as { readonly limit?: string; readonly cursor?: string };
  return ok({ page: { limit: Number(limit ?? defaultValue), cursor }, query: read.value });
}

function callOf(
  { identity, param, header, signal, isHead }: RouteRequest,
  { page, query }: ReadQuery,
  body: ReadBody<unknown>,
): RestCall<unknown, unknown> {
  return {
    identity,
    query,
    page,
    body: body.value,
    param,
    pointerTo: (...path) => body.pointerTo(path),
    unmet: (representation) => unmet(header('if-match'), computeEtag(representation)),
    header,
    signal,
    isHead,
  };
}

function responseOf(reply: Reply, { answer, method }: Route['spec'], request: Request): Response {
  if (reply.kind === 'none') return new Response(null, { status: 204 });
  if (reply.kind === 'stream')
    return new Response(reply.body, {
      headers: { 'content-type': reply.type, 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    });
  const { status = 200 } = answer;
  const text = JSON.stringify(reply.body);
  const headers = new Headers({
    'content-type': 'application/json',
    'cache-control': method === 'get' ? 'no-cache' : 'no-store',
  });
  if (reply.kind === 'list') return new Response(text, { status, headers });
  const etag = computeEtag(reply.of ?? reply.body);
  headers.set('etag', etag);
  for (const [name, value] of Object.entries(reply.headers ?? {})) headers.set(name, value);
  if (method === 'get' && isKnown(request.headers.get('if-none-match'), etag))
    return new Response(null, { status: 304, headers: { etag } });
  return new Response(text, { status, headers });
}

/** The strong validator of a representation (RFC 9110, section 8.8.3). */
export function computeEtag(representation: unknown): string {
  return `"${computeShortHash(JSON.stringify(representation), 32)}"`;
}

/**
 * PRECONDITION_FAILED if If-Match contains neither this tag nor `*`. Weak tags never match (RFC 9110, section 13.1.1).
 */
function unmet(ifMatch: string | undefined, etag: string): Refusal | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*' || tagsIn(ifMatch).includes(etag)) return undefined;
  return { code: 'PRECONDITION_FAILED', etag };
}

/** Whether the client already has it (RFC 9110, section 13.1.2). */
function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.trim() === '*' || tagsIn(ifNoneMatch.replaceAll('W/', '')).includes(etag);
}

function tagsIn(header: string): readonly string[] {
  return header.split(',').map((tag) => tag.trim());
}
