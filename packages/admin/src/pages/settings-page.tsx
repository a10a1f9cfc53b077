import { Link, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { useRowKeys } from '../parts/keys.ts';
import { Page } from '../parts/page.tsx';
import { LoadingRows } from '../parts/states.tsx';
import { useIsAdmin } from '../state/session.ts';
import { SETTINGS_SECTIONS, type SettingsSection } from '../state/settings-search.ts';
import { BackupSection } from './settings/backup-section.tsx';
import { PreferencesSection } from './settings/preferences-section.tsx';
import { TokensSection } from './settings/tokens-section.tsx';

const RulesSection = lazy(async () => ({
  default: (await import('./settings/rules/rules-section.tsx')).RulesSection,
}));
const BrowsersSection = lazy(async () => ({
  default: (await import('./settings/browsers-section.tsx')).BrowsersSection,
}));

const LABELS: Readonly<Record<SettingsSection, string>> = {
  preferences: 'Preferences',
  rules: 'Rules',
  tokens: 'Tokens',
  browsers: 'Browsers',
  backup: 'Export and import',
};

export function SettingsPage(): ReactNode {
  const { section = 'preferences' } = useSearch({ from: '/settings' });
  const isAdmin = useIsAdmin();
  useRowKeys();
  const sections = SETTINGS_SECTIONS.filter((one) => isAdmin || !['browsers', 'backup'].includes(one));
  return (
    <Page title="Settings">
      <nav className="tabs" aria-label="Settings">
        {sections.map((one) => (
          <Link
            key={one}
            to="/settings"
            search={one === 'preferences' ? {} : { section: one }}
            activeOptions={{ exact: true }}
          >
            {LABELS[one]}
          </Link>
        ))}
      </nav>
      {section === 'preferences' && <PreferencesSection />}
      {section === 'rules' && (
        <Suspense fallback={<LoadingRows count={4} />}>
          <RulesSection />
        </Suspense>
      )}
      {section === 'tokens' && <TokensSection />}
      {section === 'browsers' && isAdmin && (
        <Suspense fallback={<LoadingRows count={4} />}>
          <BrowsersSection />
        </Suspense>
      )}
      {section === 'backup' && isAdmin && <BackupSection />}
    </Page>
  );
}
