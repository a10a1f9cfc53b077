import { ActionIcon, Burger, Button, useMantineColorScheme, useComputedColorScheme } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { LogOut, Moon, OctagonX, Sun, WifiOff } from 'lucide-react';
import { lazy, Suspense, useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';
import { getServerLevel } from '@assay-mcp/kit/server-states';
import icon from './icon.svg';
import { useKeys } from './parts/keys.ts';
import { NAV_PAGES } from './parts/nav-pages.ts';
import { Notices } from './parts/notices.tsx';
import { StopBanner } from './parts/stop-banner.tsx';
import { pendingQuery } from './state/approvals.ts';
import { gatewaysQuery } from './state/lists.ts';
import { follow, getLiveState, onLive } from './state/live.ts';
import { stopsQuery } from './state/stops.ts';
import { clearSession, sessionQuery, useIsAdmin } from './state/session.ts';

// Loaded when they are first opened.
const Help = lazy(async () => ({ default: (await import('./parts/help.tsx')).Help }));
const StopDialog = lazy(async () => ({ default: (await import('./parts/stop-control.tsx')).StopDialog }));
const SignOutMenu = lazy(async () => ({
  default: (await import('./parts/sign-out-menu.tsx')).SignOutMenu,
}));

const LIVE_LABELS = { connecting: 'Connecting', live: 'Live', lost: 'Connection lost' } as const;

export function Shell(): ReactNode {
  const client = useQueryClient();
  const { data: session } = useQuery(sessionQuery);
  const [isNavOpen, setNavOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const navigate = useNavigate();
  useEffect(() => {
    const check = async (): Promise<void> => {
      const now = await client.query({ ...sessionQuery, staleTime: 0 }).catch(() => undefined);
      if (now === null) clearSession(client);
    };
    return follow(client, () => void check());
  }, [client]);
  useKeys({
    '?': () => setHelpOpen(true),
    '/': () => document.querySelector<HTMLInputElement>('[data-search]')?.focus(),
    ...Object.fromEntries(NAV_PAGES.map(({ to }, at) => [String(at + 1), () => void navigate({ to })])),
  });
  const mayApprove = useIsAdmin();
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <section className="narrow-head" aria-label="Menu bar">
        <Burger size="sm" opened={isNavOpen} onClick={() => setNavOpen(!isNavOpen)} aria-label="Menu" />
        Assay
      </section>
      <nav className="nav" data-open={isNavOpen} aria-label="Pages">
        <div className="brand">
          <img src={icon} alt="" />
          Assay
        </div>
        <Links mayApprove={mayApprove} onChosen={() => setNavOpen(false)} />
        <AllCalls />
        <Footer subject={session?.subject ?? ''} onHelp={() => setHelpOpen(true)} />
      </nav>
      <main id="content" tabIndex={-1}>
        <LostBanner />
        <StopBanner />
        <Outlet />
      </main>
      <Notices />
      {isHelpOpen && (
        <Suspense>
          <Help onClose={() => setHelpOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** While all calls are stopped, the banner has the control. */
function AllCalls(): ReactNode {
  const { data: stops = [] } = useQuery(stopsQuery);
  const [isOpen, setOpen] = useState(false);
  if (!useIsAdmin() || stops.some(({ kind }) => kind === 'all_calls')) return null;
  return (
    <div className="stop-all">
      <Button
        variant="default"
        size="xs"
        fullWidth
        leftSection={<OctagonX size={14} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        Stop all calls
      </Button>
      {isOpen && (
        <Suspense>
          <StopDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** Input is kept; data is read again once the connection is back. */
function LostBanner(): ReactNode {
  if (useSyncExternalStore(onLive, getLiveState) !== 'lost') return null;
  return (
    <div className="lost" role="alert">
      <WifiOff size={16} aria-hidden /> The connection to Assay is lost. Reconnecting; your input is kept.
    </div>
  );
}

function Links({
  mayApprove,
  onChosen,
}: {
  readonly mayApprove: boolean;
  readonly onChosen: () => void;
}): ReactNode {
  const { data: pending = [] } = useQuery({ ...pendingQuery, enabled: mayApprove });
  const { data: gateways = [] } = useQuery(gatewaysQuery);
  const toolCount = gateways.reduce((sum, gateway) => sum + gateway.toolCount, 0);
  const down = gateways.filter(({ state }) => getServerLevel(state) === 'down').length;
  const numbers: Readonly<Record<string, ReactNode>> = {
    '/approvals': pending.length > 0 && <span className="number due">{pending.length}</span>,
    '/tools': <span className="number">{toolCount.toLocaleString('en')}</span>,
    '/servers': (
      <span className={down > 0 ? 'number due' : 'number'}>
        {down > 0 ? `${down} down` : gateways.length}
      </span>
    ),
  };
  return (
    <ul onClick={onChosen}>
      {NAV_PAGES.filter(({ to }) => mayApprove || to !== '/approvals').map(({ to, label, Icon }) => (
        <li key={to}>
          <Link to={to} activeOptions={{ exact: to === '/' }}>
            <Icon size={16} aria-hidden /> {label}
            {numbers[to]}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Footer({ subject, onHelp }: { readonly subject: string; readonly onHelp: () => void }): ReactNode {
  const state = useSyncExternalStore(onLive, getLiveState);
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'dark' ? 'light' : 'dark';
  const [isLeaving, setLeaving] = useState(false);
  const leave = (
    <ActionIcon variant="subtle" color="gray" aria-label="Sign out" onClick={() => setLeaving(true)}>
      <LogOut size={16} />
    </ActionIcon>
  );
  return (
    <footer>
      <span className="live" data-state={state} role="status">
        <i aria-hidden /> {LIVE_LABELS[state]}
      </span>
      <ActionIcon
        variant="subtle"
        color="gray"
        onClick={() => setColorScheme(other)}
        aria-label={`Switch to ${other} colours`}
      >
        {scheme === 'dark' ? <Sun size={16} /> : <Moon size={16} />}
      </ActionIcon>
      <ActionIcon variant="subtle" color="gray" onClick={onHelp} aria-label="Keyboard shortcuts">
        <kbd>?</kbd>
      </ActionIcon>
      {isLeaving ? (
        <Suspense fallback={leave}>
          <SignOutMenu subject={subject} />
        </Suspense>
      ) : (
        leave
      )}
    </footer>
  );
}
