import { mintSession, mintToken } from '../adapters/auth/mint-token.ts';
import type { Refusal } from '../core/refusal.ts';
import { ok, type Result } from '../core/result.ts';
import { steadyClock } from '../core/token.ts';
import type { Route } from '../edges/rest/route.ts';
import type { TokenDeps } from '../edges/rest/tokens.ts';
import type { Store } from '../gateway/ports/store.ts';
import type { LocalServices } from './services.ts';

/** What routes need, opened on demand in the process of a command. */
export interface LocalParts {
  readonly store: () => Promise<Result<Store, Refusal>>;
  readonly services: () => Promise<Result<LocalServices, Refusal>>;
  /** URL of the running gateway of this home. */
  readonly serveUrl: string | undefined;
}

/** Routes that need the same parts. Only the modules of the group of a request are loaded. */
interface RouteGroup {
  readonly paths: RegExp;
  /** Whether the answer depends on the config file. */
  readonly isAboutConfig: boolean;
  readonly open: (parts: LocalParts) => Promise<Result<readonly Route[], Refusal>>;
}

/** Absent path: only a running gateway answers it. */
const GROUPS: readonly RouteGroup[] = [
  {
    paths: /^\/tokens(?:\/[^/]+)?$/,
    isAboutConfig: false,
    open: async ({ store }) => {
      const opened = await store();
      if (!opened.ok) return opened;
      const { tokenRoutes } = await import('../edges/rest/tokens.ts');
      return ok(tokenRoutes({ store: opened.value, mint: mintToken, nowMs: steadyClock(), gate: NO_GATE }));
    },
  },
  {
    paths: /^\/sign-in-links$/,
    isAboutConfig: false,
    open: async ({ store, serveUrl }) => {
      const opened = await store();
      if (!opened.ok) return opened;
      const { signInLinkRoutes } = await import('../edges/rest/sign-in-links.ts');
      const deps = { store: opened.value, mintSession, mayExecute: true, pagesUrl: () => serveUrl };
      return ok(signInLinkRoutes({ ...deps, nowMs: steadyClock() }));
    },
  },
  {
    paths: /^\/approvals(?:\/|$)/,
    isAboutConfig: false,
    open: async ({ store }) => {
      const opened = await store();
      if (!opened.ok) return opened;
      const { approvalRoutes } = await import('../edges/rest/approvals.ts');
      return ok(approvalRoutes({ store: opened.value }));
    },
  },
  {
    paths: /^\/activity(?:\/|$)/,
    isAboutConfig: false,
    open: async ({ store }) => {
      const opened = await store();
      if (!opened.ok) return opened;
      const { activityRoutes } = await import('../edges/rest/activity.ts');
      const { callRoutes } = await import('../edges/rest/calls.ts');
      const deps = { store: opened.value, nowMs: steadyClock() };
      return ok([...activityRoutes(deps), ...callRoutes(deps)]);
    },
  },
  ofServices(/^\/labels(?:\/|$)/, async (services) =>
    (await import('../edges/rest/labels.ts')).labelRoutes(services),
  ),
  ofServices(/^\/policy\/rules$/, async (services) =>
    (await import('../edges/rest/policy-rules.ts')).policyRuleRoutes(services),
  ),
  ofServices(/^\/preferences$/, async (services) =>
    (await import('../edges/rest/preferences.ts')).preferenceRoutes(services),
  ),
  ofServices(/^\/tokens\/[^/]+\/preferences$/, async (services) =>
    (await import('../edges/rest/token-preferences.ts')).tokenPreferenceRoutes(services),
  ),
  ofServices(/^\/tools(?:\/[^/]+(?:\/review)?)?$/, async (services) => {
    await services.startAll();
    return (await import('../edges/rest/tools.ts')).toolRoutes(services);
  }),
  ofServices(/^\/instructions$|^\/gateways\/[^/]+\/instructions(?:\/|$)/, async (services) => {
    await services.startAll();
    return (await import('../edges/rest/instructions.ts')).instructionsRoutes(services);
  }),
];

/** Routes that use the services of a catalog; `load` starts its servers if the routes need them. */
function ofServices(paths: RegExp, load: (services: LocalServices) => Promise<readonly Route[]>): RouteGroup {
  return {
    paths,
    isAboutConfig: true,
    open: async ({ services }) => {
      const opened = await services();
      return opened.ok ? ok(await load(opened.value)) : opened;
    },
  };
}

/** A command has no connections that a token could have opened. */
const NO_GATE: TokenDeps['gate'] = {
  refresh: () => Promise.resolve(),
  revoke: () => false,
};

export function groupOf(path: string): RouteGroup | undefined {
  return GROUPS.find(({ paths }) => paths.test(path));
}

/** Whether the answer at this path depends on the config file. */
export function isAboutConfig(path: string): boolean {
  return groupOf(path)?.isAboutConfig ?? true;
}
