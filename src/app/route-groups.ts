import { mintSession, mintToken } from '../adapters/auth/mint-token.ts';
import type { Refusal } from '../core/refusal.ts';
import { ok, type Result } from '../core/result.ts';
import { createSteadyClock } from '../core/token.ts';
import type { Route } from '../edges/rest/route.ts';
import type { TokenDeps } from '../edges/rest/tokens.ts';
import type { ApiRequest } from '../edges/cli/api.ts';
import type { Store } from '../gateway/ports/store.ts';
import type { LocalServices, ServicesNeeds } from './services.ts';
import type { LocalToolsets } from './local-toolsets.ts';

/** What routes need, opened on demand in the process of a command. */
export interface LocalParts {
  readonly store: () => Promise<Result<Store, Refusal>>;
  readonly toolsets: () => Promise<Result<LocalToolsets, Refusal>>;
  readonly services: (needs: ServicesNeeds) => Promise<Result<LocalServices, Refusal>>;
  /** URL of the running gateway of this home. */
  readonly serveUrl: string | undefined;
}

/** Routes that need the same parts. Only the modules of the group of a request are loaded. */
interface RouteGroup {
  readonly paths: RegExp;
  /** Matches `METHOD /path` of requests whose answers depend on the config file. */
  readonly aboutConfig?: RegExp;
  readonly open: (parts: LocalParts) => Promise<Result<readonly Route[], Refusal>>;
}

/** Those that look up tools. */
const TOOLSETS_ABOUT_CONFIG =
  /^POST \/toolsets(?:\/[^/]+\/(?:add|accept))?$|^GET \/toolsets\/[^/]+\/|^POST \/import\/toolsets$/;

/** Absent path: only a running gateway answers it. */
const GROUPS: readonly RouteGroup[] = [
  withStore(/^\/tokens(?:\/[^/]+)?$/, async (store) => {
    const { tokenRoutes } = await import('../edges/rest/tokens.ts');
    return tokenRoutes({ store, mint: mintToken, nowMs: createSteadyClock(), gate: NO_GATE });
  }),
  withStore(/^\/sign-in-links$/, async (store, serveUrl) => {
    const { signInLinkRoutes } = await import('../edges/rest/sign-in-links.ts');
    const deps = { store, mintSession, mayExecute: true, pagesUrl: () => serveUrl };
    return signInLinkRoutes({ ...deps, nowMs: createSteadyClock() });
  }),
  withStore(/^\/approvals(?:\/|$)/, async (store) =>
    (await import('../edges/rest/approvals.ts')).approvalRoutes({ store }),
  ),
  withStore(/^\/activity(?:\/|$)/, async (store) => {
    const { activityRoutes } = await import('../edges/rest/activity.ts');
    const { callRoutes } = await import('../edges/rest/calls.ts');
    const deps = { store, nowMs: createSteadyClock() };
    return [...activityRoutes(deps), ...callRoutes(deps)];
  }),
  {
    paths: /^\/notes(?:\/|$)/,
    open: async ({ toolsets }) => {
      const [opened, { noteRoutes }] = await Promise.all([toolsets(), import('../edges/rest/notes.ts')]);
      return opened.ok ? ok(noteRoutes(opened.value)) : opened;
    },
  },
  {
    paths: /^\/toolsets(?:\/|$)|^\/(?:export|import)\/toolsets$/,
    aboutConfig: TOOLSETS_ABOUT_CONFIG,
    open: async ({ toolsets }) => {
      const [opened, { toolsetRoutes }, { toolsetFileRoutes }] = await Promise.all([
        toolsets(),
        import('../edges/rest/toolsets.ts'),
        import('../edges/rest/toolset-files.ts'),
      ]);
      if (!opened.ok) return opened;
      return ok([...toolsetRoutes(opened.value), ...toolsetFileRoutes({ ...opened.value, nowMs: Date.now })]);
    },
  },
  withServices(/^\/labels(?:\/|$)/, async (services) =>
    (await import('../edges/rest/labels.ts')).labelRoutes(services),
  ),
  withServices(/^\/policy\/rules$/, async (services) =>
    (await import('../edges/rest/policy-rules.ts')).policyRuleRoutes(services),
  ),
  withServices(/^\/preferences$/, async (services) =>
    (await import('../edges/rest/preferences.ts')).preferenceRoutes(services),
  ),
  withServices(/^\/tokens\/[^/]+\/preferences$/, async (services) =>
    (await import('../edges/rest/token-preferences.ts')).tokenPreferenceRoutes(services),
  ),
  withServices(/^\/tools(?:\/[^/]+(?:\/review)?)?$/, async (services) => {
    const { toolRoutes } = await import('../edges/rest/tools.ts');
    const { customToolRoutes } = await import('../edges/rest/custom-tools.ts');
    return [...toolRoutes(services), ...customToolRoutes(services)];
  }),
  withServices(/^\/functions$/, async (services) =>
    (await import('../edges/rest/functions.ts')).functionRoutes(services),
  ),
  withServices(/^\/openapi$|^\/gateways\/[^/]+$/, async (services) =>
    (await import('../edges/rest/gateways.ts')).gatewayRoutes(services),
  ),
  withServices(
    /^\/tools\/[^/]+\/decision$/,
    async (services) => (await import('../edges/rest/decision.ts')).decisionRoutes(services),
    { isReading: true, mayBeEmpty: false },
  ),
  withServices(
    /^\/catalog$|^\/status$/,
    async ({ reports }) => (await import('../edges/rest/catalog.ts')).catalogRoutes(reports),
    { isReading: true },
  ),
  withServices(/^\/instructions$|^\/gateways\/[^/]+\/instructions(?:\/|$)/, async (services) => {
    await services.listed({ server: undefined });
    return (await import('../edges/rest/instructions.ts')).instructionsRoutes(services);
  }),
];

/** Routes that use the store alone. */
function withStore(
  paths: RegExp,
  load: (store: Store, serveUrl: string | undefined) => Promise<readonly Route[]>,
): RouteGroup {
  return {
    paths,
    open: async ({ store, serveUrl }) => {
      const opened = await store();
      return opened.ok ? ok(await load(opened.value, serveUrl)) : opened;
    },
  };
}

/** Routes that use the services of a catalog, which start servers as requests need them. */
function withServices(
  paths: RegExp,
  load: (services: LocalServices) => Promise<readonly Route[]>,
  needs: ServicesNeeds = {},
): RouteGroup {
  return {
    paths,
    aboutConfig: /^/,
    open: async ({ services }) => {
      const opened = await services(needs);
      return opened.ok ? ok(await load(opened.value)) : opened;
    },
  };
}

/** A command has no connections that a token could have opened. */
const NO_GATE: TokenDeps['gate'] = {
  refresh: () => Promise.resolve(),
  revoke: () => false,
};

export function findGroup(path: string): RouteGroup | undefined {
  return GROUPS.find(({ paths }) => paths.test(path));
}

/** Whether the answer depends on the config file. */
export function isAboutConfig({ method, path }: Pick<ApiRequest, 'method' | 'path'>): boolean {
  const group = findGroup(path);
  return group === undefined || group.aboutConfig?.test(`${method} ${path}`) === true;
}
