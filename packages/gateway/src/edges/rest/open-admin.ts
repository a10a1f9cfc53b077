import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { isAboutTokens } from '../../core/challenge.ts';
import { computeProtection, type ProtectedResource } from '../../core/protected-resource.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Identity } from '../../core/subject.ts';
import { PAGE_HEADERS } from '../../core/web-page.ts';
import { activityRoutes } from './activity.ts';
import type { AdminDeps } from './admin-deps.ts';
import { findAdminPage } from './admin-pages.ts';
import { approvalRoutes } from './approvals.ts';
import { answerRoute } from './answer-route.ts';
import { callRoutes } from './calls.ts';
import { catalogRoutes } from './catalog.ts';
import { openApiDocument } from './describe-route.ts';
import { bundleRoutes } from './bundles.ts';
import { findDocsPage } from './docs-pages.ts';
import { eventRoutes } from './events.ts';
import { toProblemResponse, type Failure } from './failure.ts';
import { functionRoutes } from './functions.ts';
import { gatewayRuntimeRoutes } from './gateway-runtime.ts';
import { gatewayTrustRoutes } from './gateway-trust.ts';
import { gatewayRoutes } from './gateways.ts';
import { instructionsRoutes } from './instructions.ts';
import { labelRoutes } from './labels.ts';
import { preferenceRoutes } from './preferences.ts';
import { customToolRoutes } from './custom-tools.ts';
import { BodyMemory } from './read-json.ts';
import { buildRootResponse } from './root-page.ts';
import type { Route } from './route.ts';
import { runRoutes } from './runs.ts';
import { decisionRoutes } from './decision.ts';
import { searchRoutes } from './search.ts';
import { secretRoutes } from './secrets.ts';
import { sessionRoutes } from './sessions.ts';
import { getCurrentSession, signIn, type SignInRequest, signOut } from './sign-in.ts';
import { signInLinkRoutes } from './sign-in-links.ts';
import { snippetRoutes } from './snippets.ts';
import { tokenPreferenceRoutes } from './token-preferences.ts';
import { policyRuleRoutes } from './policy-rules.ts';
import { noticeRoutes } from './notices.ts';
import { stopRoutes } from './stops.ts';
import { tokenRoutes } from './tokens.ts';
import { noteRoutes } from './notes.ts';
import { toolNoteRoutes } from './tool-notes.ts';
import { toolRoutes } from './tools.ts';
import { toolsetRoutes } from './toolsets.ts';
import { verifyGatewayRoutes } from './verify-gateway.ts';

const NOT_LOCAL_ONLY =
  'a link with execute needs a gateway that listens on loopback and has no public URL; this one can be reached from other machines. Create a token instead: assay token create NAME --scopes admin,execute';

/** All resources; each has its own file. */
function routesOf(deps: AdminDeps): readonly Route[] {
  return [
    ...toolRoutes(deps),
    ...decisionRoutes(deps),
    ...runRoutes(deps),
    ...catalogRoutes(deps.reports),
    ...searchRoutes(deps),
    ...customToolRoutes(deps),
    ...functionRoutes(deps),
    ...secretRoutes(deps),
    ...toolNoteRoutes(deps),
    ...noteRoutes(deps),
    ...gatewayRoutes(deps),
    ...gatewayTrustRoutes(deps),
    ...gatewayRuntimeRoutes(deps),
    ...verifyGatewayRoutes(deps),
    ...instructionsRoutes(deps),
    ...toolsetRoutes(deps),
    ...snippetRoutes(deps),
    ...tokenRoutes(deps),
    ...signInLinkRoutes({
      ...deps,
      executeLinkFault: deps.isLocalOnly ? undefined : NOT_LOCAL_ONLY,
      pagesUrl: async () => (deps.publicUrl === undefined ? deps.openPages() : ok(deps.publicUrl)),
    }),
    ...tokenPreferenceRoutes(deps),
    ...policyRuleRoutes(deps),
    ...stopRoutes(deps),
    ...noticeRoutes(deps),
    ...sessionRoutes(deps),
    ...labelRoutes(deps),
    ...preferenceRoutes(deps),
    ...bundleRoutes(deps),
    ...approvalRoutes(deps),
    ...activityRoutes(deps),
    ...callRoutes(deps),
    ...eventRoutes(deps),
  ];
}

/** The REST API, after Host, Origin and token were checked. */
export interface Admin {
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    admitted: Result<Identity, Refusal>,
  ): Promise<void>;
}

interface Env {
  readonly Bindings: HttpBindings & {
    readonly admitted: Result<Identity, Refusal>;
    readonly resource: ProtectedResource | undefined;
    readonly memory: BodyMemory;
  };
}

type RequestContext = Context<Env>;

export function openAdmin(deps: AdminDeps): Admin {
  const app = appOf(routesOf(deps), deps);
  const admissions = new WeakMap<IncomingMessage, Result<Identity, Refusal>>();
  const fetch = async (request: Request, bindings: HttpBindings): Promise<Response> => {
    const admitted = admissions.get(bindings.incoming) ?? err({ code: 'TOKEN_REQUIRED' });
    const memory = new BodyMemory(deps.bodies, admitted.ok ? admitted.value.subject : '');
    try {
      return await app.fetch(request, { ...bindings, admitted, resource: deps.resource, memory });
    } finally {
      memory.release();
    }
  };
  const listener = getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
    // The rest of the process keeps Node's own globals.
    overrideGlobalObjects: false,
    errorHandler: () =>
      toProblemResponse(
        { code: 'MESSAGE_INVALID', reason: 'its target or its Host header cannot be read' },
        { path: '', authorization: undefined },
      ),
  });
  return {
    answer: (request, response, admitted) => {
      admissions.set(request, admitted);
      return listener(request, response);
    },
  };
}

function appOf(routes: readonly Route[], deps: AdminDeps): Hono<Env> {
  const app = new Hono<Env>({ strict: false });
  for (const route of routes) {
    app.on(route.spec.method.toUpperCase(), honoPath(route.spec.path), async (c: RequestContext) => {
      const { admitted } = c.env;
      const visit = {
        request: c.req.raw,
        memory: c.env.memory,
        param: (name: string) => c.req.param(name) ?? '',
      };
      return responseOf(
        c,
        admitted.ok ? await answerRoute(route, { ...visit, identity: admitted.value }) : admitted,
      );
    });
  }
  app.get('/', (c) => {
    const { origin } = new URL(c.req.url);
    const options = { origin, accept: c.req.header('accept'), needsToken: deps.needsToken };
    return responseOf(c, mayRead(c) ?? ok(buildRootResponse(options)));
  });
  let document: string | undefined;
  app.get('/openapi.json', (c) => {
    document ??= openApiDocument(routes, deps.version);
    return responseOf(c, mayRead(c) ?? ok(ownResponse('application/json', document)));
  });
  const { sessions } = deps.gate;
  app.post('/admin/sign-in', async (c) => responseOf(c, mayRead(c) ?? (await signIn(visitOf(c), sessions))));
  app.post('/admin/sign-out', async (c) =>
    responseOf(c, mayRead(c) ?? (await signOut(visitOf(c), sessions))),
  );
  app.get('/admin/session', (c) => responseOf(c, getCurrentSession(visitOf(c))));
  for (const path of ['/admin', '/admin/*']) app.get(path, (c) => answerPages(c, routes, deps));
  for (const path of ['/docs', '/docs/*']) app.get(path, (c) => answerDocs(c, routes, deps));
  app.all('*', (c) => responseOf(c, unmatched(c, routes)));
  app.onError((error, c) => {
    deps.log.error('a request to the REST API failed inside Assay', { error: error.stack ?? error.message });
    return refused(c, { code: 'INTERNAL' });
  });
  return app;
}

async function answerDocs(
  c: RequestContext,
  routes: readonly Route[],
  { asset }: AdminDeps,
): Promise<Response> {
  const page = await findDocsPage(pathOf(c), asset);
  if (page === undefined) return responseOf(c, unmatched(c, routes));
  return responseOf(c, mayRead(c) ?? ok(ownResponse(page.type, page.text)));
}

/** Serves the pages without authentication: they contain no data, and each request that they make is checked. */
async function answerPages(
  c: RequestContext,
  routes: readonly Route[],
  { pageFile }: AdminDeps,
): Promise<Response> {
  const page = await findAdminPage(pathOf(c), c.req.header('accept-encoding'), pageFile);
  return responseOf(c, mayRead(c) ?? (page === undefined ? unmatched(c, routes) : ok(page)));
}

function visitOf({ req, env }: RequestContext): SignInRequest {
  const { memory, admitted } = env;
  return { request: req.raw, memory, address: env.incoming.socket.remoteAddress ?? '', admitted };
}

function ownResponse(type: string, text: string): Response {
  return new Response(text, {
    headers: { ...PAGE_HEADERS, 'content-type': type, 'cache-control': 'no-cache' },
  });
}

function responseOf(c: RequestContext, done: Result<Response, Failure>): Response {
  return done.ok ? done.value : refused(c, done.error);
}

function refused(c: RequestContext, failure: Failure): Response {
  const { path, method } = c.req;
  const { resource } = c.env;
  const protection =
    resource && computeProtection(resource, { path, method, host: c.req.header('host') ?? '' });
  return toProblemResponse(failure, { path, authorization: c.req.header('authorization'), protection });
}

/** Refuses callers that may not even use what needs no token. */
function mayRead({ env: { admitted } }: RequestContext): Result<never, Refusal> | undefined {
  return admitted.ok || isAboutTokens(admitted.error) ? undefined : admitted;
}

/** Answers OPTIONS, unsupported methods and unknown paths. */
function unmatched(c: RequestContext, routes: readonly Route[]): Result<Response, Failure> {
  const path = pathOf(c);
  const { admitted } = c.env;
  const fitting = routes.filter(({ spec }) => patternOf(spec.path).test(path));
  // An MCP client at a wrong path should learn that, instead of being asked for a token.
  if (!admitted.ok && (fitting.length > 0 || !isAboutTokens(admitted.error))) return admitted;
  if (fitting.length === 0) {
    const known = [
      '/mcp',
      '/health',
      '/metrics',
      '/live',
      '/ready',
      '/docs',
      ...new Set(routes.map(({ spec }) => spec.path)),
    ];
    return err({ code: 'ENDPOINT_UNKNOWN', path: c.req.path, known });
  }
  const methods = new Set(fitting.map(({ spec }) => spec.method.toUpperCase()));
  const allowed = [...methods, ...(methods.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  return c.req.method === 'OPTIONS'
    ? ok(new Response(null, { status: 204, headers: { allow: allowed } }))
    : err({ code: 'HTTP_METHOD_UNKNOWN', method: c.req.method, allowed });
}

/** Ignores a trailing slash. */
function pathOf({ req }: RequestContext): string {
  return req.path.length > 1 ? req.path.replace(/\/$/, '') : req.path;
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}
