import { mintSession, mintToken } from '../adapters/auth/mint-token.ts';
import type { Refusal } from '../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
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
  readonly aboutConfig?: RegExp | undefined;
  readonly open: (parts: LocalParts) => Promise<Result<readonly Route[], Refusal>>;
}

/** Those that look up tools. */
const TOOLSETS_ABOUT_CONFIG = /^POST \/toolsets(?:\/[^/]+\/(?:add|accept))?$|^GET \/toolsets\/[^/]+\//;

/** Absent path: only a running gateway answers it. */
const GROUPS: readonly RouteGroup[] = [
  withStore(
    /^\/tokens(?:\/[^/]+)?$/,
    () => import('../edges/rest/tokens.ts'),
    ({ tokenRoutes }, store) =>
      tokenRoutes({ store, mint: mintToken, nowMs: createSteadyClock(), gate: NO_GATE }),
  ),
  withStore(
    /^\/sign-in-links$/,
    () => import('../edges/rest/sign-in-links.ts'),
    ({ signInLinkRoutes }, store, serveUrl) => {
      const pagesUrl = () => Promise.resolve(ok(serveUrl));
      // A gateway of another version might give such a session more time, or accept it on other interfaces.
      const executeLinkFault =
        'a link with execute is created by the running gateway: start one of this version, `assay serve`, and repeat the command';
      const deps = { store, mintSession, mayExecute: true, pagesUrl, executeLinkFault };
      return signInLinkRoutes({ ...deps, nowMs: createSteadyClock() });
    },
  ),
  withStore(
    /^\/approvals(?:\/|$)/,
    () => import('../edges/rest/approvals.ts'),
    ({ approvalRoutes }, store) => approvalRoutes({ store }),
  ),
  withStore(
    /^\/activity$/,
    () => import('../edges/rest/activity.ts'),
    ({ activityRoutes }, store) => activityRoutes({ store }),
  ),
  withStore(
    /^\/activity\//,
    () => import('../edges/rest/calls.ts'),
    ({ callRoutes }, store) => callRoutes({ store, nowMs: createSteadyClock() }),
  ),
  withToolsets(
    /^\/notes(?:\/|$)/,
    () => import('../edges/rest/notes.ts'),
    ({ noteRoutes }, toolsets) => noteRoutes(toolsets),
  ),
  withToolsets(
    /^\/catalog\/costs$/,
    () => Promise.all([import('../edges/rest/search.ts'), import('../adapters/telemetry/token-counter.ts')]),
    ([{ costsRoute }, counter], { toolsetService }) => [costsRoute({ toolsetService, ...counter })],
    /^/,
  ),
  withToolsets(
    /^\/toolsets(?:\/|$)/,
    () => import('../edges/rest/toolsets.ts'),
    ({ toolsetRoutes }, toolsets) => toolsetRoutes(toolsets),
    TOOLSETS_ABOUT_CONFIG,
  ),
  withServices(
    /^\/(?:export|import)$/,
    () => import('../edges/rest/bundles.ts'),
    ({ bundleRoutes }, services) => bundleRoutes(services),
  ),
  withServices(
    /^\/labels(?:\/|$)/,
    () => import('../edges/rest/labels.ts'),
    ({ labelRoutes }, services) => labelRoutes(services),
  ),
  withServices(
    /^\/policy\/rules$/,
    () => import('../edges/rest/policy-rules.ts'),
    ({ policyRuleRoutes }, services) => policyRuleRoutes(services),
  ),
  withServices(
    /^\/stops(?:\/[^/]+)?$/,
    () => import('../edges/rest/stops.ts'),
    ({ stopRoutes }, services) => stopRoutes(services),
  ),
  withServices(
    /^\/preferences$/,
    () => import('../edges/rest/preferences.ts'),
    ({ preferenceRoutes }, services) => preferenceRoutes(services),
  ),
  withServices(
    /^\/tokens\/[^/]+\/preferences$/,
    () => import('../edges/rest/token-preferences.ts'),
    ({ tokenPreferenceRoutes }, services) => tokenPreferenceRoutes(services),
  ),
  withServices(
    /^\/tools(?:\/[^/]+(?:\/review)?)?$/,
    () => Promise.all([import('../edges/rest/tools.ts'), import('../edges/rest/custom-tools.ts')]),
    ([{ toolRoutes }, { customToolRoutes }], services) => [
      ...toolRoutes(services),
      ...customToolRoutes(services),
    ],
  ),
  withServices(
    /^\/functions$/,
    () => import('../edges/rest/functions.ts'),
    ({ functionRoutes }, services) => functionRoutes(services),
  ),
  withServices(
    /^\/secrets(?:\/[^/]+)?$/,
    () => import('../edges/rest/secrets.ts'),
    ({ secretRoutes }, services) => secretRoutes(services),
  ),
  withServices(
    /^\/openapi$|^\/gateways(?:\/[^/]+)?$/,
    () => import('../edges/rest/gateways.ts'),
    ({ gatewayRoutes }, services) => gatewayRoutes(services),
  ),
  withServices(
    /^\/gateways\/[^/]+\/trust$/,
    () => import('../edges/rest/gateway-trust.ts'),
    ({ gatewayTrustRoutes }, services) => gatewayTrustRoutes(services),
  ),
  withServices(
    /^\/tools\/[^/]+\/decision$/,
    () => import('../edges/rest/decision.ts'),
    ({ decisionRoutes }, services) => decisionRoutes(services),
    { isReading: true, mayBeEmpty: false },
  ),
  withServices(
    /^\/catalog$|^\/status$/,
    () => import('../edges/rest/catalog.ts'),
    ({ catalogRoutes }, { reports }) => catalogRoutes(reports),
    { isReading: true },
  ),
  withServices(
    /^\/instructions$|^\/gateways\/[^/]+\/instructions(?:\/|$)/,
    () => import('../edges/rest/instructions.ts'),
    ({ instructionsRoutes }, services) => instructionsRoutes(services),
  ),
];

/** Routes that use the store alone. */
function withStore<M>(
  paths: RegExp,
  load: () => Promise<M>,
  create: (module: M, store: Store, serveUrl: string | undefined) => readonly Route[],
): RouteGroup {
  return {
    paths,
    open: ({ store, serveUrl }) =>
      openGroup(store(), load, (module, opened) => create(module, opened, serveUrl)),
  };
}

function withToolsets<M>(
  paths: RegExp,
  load: () => Promise<M>,
  create: (module: M, toolsets: LocalToolsets) => readonly Route[],
  aboutConfig?: RegExp,
): RouteGroup {
  return { paths, aboutConfig, open: ({ toolsets }) => openGroup(toolsets(), load, create) };
}

/** Routes that use the services of a catalog, which start servers as requests need them. */
function withServices<M>(
  paths: RegExp,
  load: () => Promise<M>,
  create: (module: M, services: LocalServices) => readonly Route[] | Promise<readonly Route[]>,
  needs: ServicesNeeds = {},
): RouteGroup {
  return {
    paths,
    aboutConfig: /^/,
    open: ({ services }) => openGroup(services(needs), load, create),
  };
}

/** Loads the module of the routes while what they use is opened. */
async function openGroup<P, M>(
  opening: Promise<Result<P, Refusal>>,
  load: () => Promise<M>,
  create: (module: M, part: P) => readonly Route[] | Promise<readonly Route[]>,
): Promise<Result<readonly Route[], Refusal>> {
  const [opened, module] = await Promise.all([opening, load()]);
  return opened.ok ? ok(await create(module, opened.value)) : opened;
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
