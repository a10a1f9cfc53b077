import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Empty } from './parts/states.tsx';
import { Shell } from './shell.tsx';
import { readActivitySearch } from './state/activity-search.ts';
import { readSettingsSearch } from './state/settings-search.ts';
import { readServerSearch } from './state/server-search.ts';
import { readToolsetSearch } from './state/toolset-search.ts';
import { readToolSearch } from './state/tool-search.ts';
import { toolsQuery } from './state/tools.ts';

function NotFound(): ReactNode {
  return <Empty title="Page not found">Choose a page on the left.</Empty>;
}

const root = createRootRouteWithContext<{ readonly client: QueryClient }>()({
  component: Shell,
  notFoundComponent: NotFound,
});

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/overview-page.tsx'), 'OverviewPage'),
});
const approvals = createRoute({
  getParentRoute: () => root,
  path: '/approvals',
  component: lazyRouteComponent(() => import('./pages/approvals-page.tsx'), 'ApprovalsPage'),
});
const servers = createRoute({
  getParentRoute: () => root,
  path: '/servers',
  validateSearch: readServerSearch,
  component: lazyRouteComponent(() => import('./pages/servers-page.tsx'), 'ServersPage'),
});
const activity = createRoute({
  getParentRoute: () => root,
  path: '/activity',
  validateSearch: readActivitySearch,
  component: lazyRouteComponent(() => import('./pages/activity-page.tsx'), 'ActivityPage'),
});

const toolsets = createRoute({
  getParentRoute: () => root,
  path: '/toolsets',
  validateSearch: readToolsetSearch,
  component: lazyRouteComponent(() => import('./pages/toolsets-page.tsx'), 'ToolsetsPage'),
});
const tools = createRoute({
  getParentRoute: () => root,
  path: '/tools',
  validateSearch: readToolSearch,
  loader: ({ context }) => void context.client.query(toolsQuery).catch(() => undefined),
  component: lazyRouteComponent(() => import('./pages/tools-page.tsx'), 'ToolsPage'),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  validateSearch: readSettingsSearch,
  component: lazyRouteComponent(() => import('./pages/settings-page.tsx'), 'SettingsPage'),
});

const run = createRoute({
  getParentRoute: () => root,
  path: '/tools/$toolId/run',
  component: lazyRouteComponent(() => import('./pages/run-page.tsx'), 'RunPage'),
});

const parts = createRoute({
  getParentRoute: () => root,
  path: '/parts',
  component: import.meta.env.DEV
    ? lazyRouteComponent(() => import('./pages/parts-page.tsx'), 'PartsPage')
    : NotFound,
});

export const router = createRouter({
  routeTree: root.addChildren([
    overview,
    approvals,
    tools,
    run,
    toolsets,
    servers,
    activity,
    settings,
    parts,
  ]),
  basepath: '/admin',
  defaultPreload: 'intent',
  context: { client: undefined as unknown as QueryClient }, // Set by `main`.
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
