import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { Identity } from '../../core/subject.ts';
import type { AdminDeps } from './admin-deps.ts';
import { answerRoute } from './answer-route.ts';
import { describeCommon, describeRoute } from './describe-route.ts';
import { problemResponse, type Failure } from './failure.ts';
import type { Route } from './route.ts';
import { tokenRoutes } from './tokens.ts';

/** The REST API, behind a door that has looked at Host, Origin and token. */
export interface Admin {
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    admitted: Result<Identity, Refusal>,
  ): Promise<void>;
  /** Ends what would last. */
  close(): void;
}

interface Env {
  readonly Bindings: HttpBindings;
}

type Here = Context<Env>;

/** Every resource, each in a file of its own. */
function routesOf(deps: AdminDeps): readonly Route[] {
  return [...tokenRoutes(deps)];
}

export function openAdmin(deps: AdminDeps): Admin {
  const admissions = new WeakMap<IncomingMessage, Result<Identity, Refusal>>();
  const admissionOf = ({ env }: Here): Result<Identity, Refusal> =>
    admissions.get(env.incoming) ?? { ok: false, error: { code: 'TOKEN_REQUIRED' } };
  const app = appOf(routesOf(deps), deps, admissionOf);
  const fetch = (request: Request, env: HttpBindings): Response | Promise<Response> =>
    app.fetch(request, env);
  const listener = getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
    // The rest of the process keeps the globals that Node gave it.
    overrideGlobalObjects: false,
    errorHandler: () =>
      problemResponse(
        { code: 'MESSAGE_INVALID', reason: 'its target or its Host header cannot be read' },
        { path: '', authorization: undefined },
      ),
  });
  const ending = new AbortController();
  return {
    answer: (request, response, admitted) => {
      admissions.set(request, admitted);
      return listener(request, response);
    },
    close: () => ending.abort(),
  };
}

function appOf(
  routes: readonly Route[],
  { log, version }: AdminDeps,
  admissionOf: (c: Here) => Result<Identity, Refusal>,
): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>({ strict: false });
  const registry = app.openAPIRegistry;
  describeCommon(registry);
  const admitted = async (
    c: Here,
    work: (identity: Identity) => Promise<Result<Response, Failure>>,
  ): Promise<Response> => {
    const admission = admissionOf(c);
    const done = admission.ok ? await work(admission.value) : admission;
    return done.ok ? done.value : refused(c, done.error);
  };
  for (const route of routes) {
    describeRoute(registry, route);
    app.on(route.spec.method.toUpperCase(), honoPath(route.spec.path), (c: Here) =>
      admitted(c, (identity) =>
        answerRoute(route, { request: c.req.raw, identity, param: (name) => c.req.param(name) ?? '' }),
      ),
    );
  }
  let document: string | undefined;
  app.get('/openapi.json', (c) => {
    const admission = admissionOf(c);
    if (!admission.ok && !isAboutTokens(admission.error)) return refused(c, admission.error);
    document ??= JSON.stringify(app.getOpenAPI31Document(headOf(version)));
    return new Response(document, { headers: { 'content-type': 'application/json' } });
  });
  app.all('*', (c) => {
    const admission = admissionOf(c);
    const isKnown = routes.some(({ spec }) => patternOf(spec.path).test(pathOf(c)));
    // A client of MCP at a wrong path is better told that than to bring a token for it.
    const isShown = admission.ok || (!isKnown && isAboutTokens(admission.error));
    const done = isShown ? unmatched(c, routes) : admission;
    return done.ok ? done.value : refused(c, done.error);
  });
  app.onError((error, c) => {
    log.error('a request to the REST API failed inside Assay', { error: error.stack ?? error.message });
    return refused(c, { code: 'INTERNAL' });
  });
  return app;
}

function refused(c: Here, failure: Failure): Response {
  return problemResponse(failure, { path: c.req.path, authorization: c.req.header('authorization') });
}

/** Who brings no token that holds may still see what needs none. */
export function isAboutTokens({ code }: Refusal): boolean {
  return code === 'TOKEN_REQUIRED' || code === 'TOO_MANY_FAILURES';
}

/** OPTIONS, a method that the path does not have, or a path that there is not. */
function unmatched(c: Here, routes: readonly Route[]): Result<Response, Failure> {
  const path = pathOf(c);
  const fitting = routes.filter(({ spec }) => patternOf(spec.path).test(path));
  if (fitting.length === 0) {
    const known = [...new Set(routes.map(({ spec }) => spec.path))];
    return {
      ok: false,
      error: { code: 'ENDPOINT_UNKNOWN', path: c.req.path, known: ['/mcp', '/docs', ...known] },
    };
  }
  const methods = new Set(fitting.map(({ spec }) => spec.method.toUpperCase()));
  const allowed = [...methods, ...(methods.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  if (c.req.method === 'OPTIONS')
    return { ok: true, value: new Response(null, { status: 204, headers: { allow: allowed } }) };
  return { ok: false, error: { code: 'HTTP_METHOD_UNKNOWN', method: c.req.method, allowed } };
}

/** A slash at its end means nothing. */
function pathOf({ req }: Here): string {
  return req.path.length > 1 ? req.path.replace(/\/$/, '') : req.path;
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

function headOf(version: string): Parameters<OpenAPIHono['getOpenAPI31Document']>[0] {
  return {
    openapi: '3.1.0',
    info: { title: 'Assay', version, description: 'The REST API of the MCP gateway Assay.' },
    servers: [{ url: '/' }],
  };
}
