import type { SettingFacts } from '../setting-kind.ts';
import { CONFIRMS } from '../confirm.ts';
import type { PolicyPreferences } from './policy.ts';

/** Preferences for decisions on calls. They take effect at once. */
export interface PolicySettings {
  readonly approvals: PolicyPreferences['approvals'];
  readonly 'policy.autoApproveReadOnly': boolean;
  readonly 'policy.alwaysConfirmDestructive': boolean;
  readonly 'policy.showWarnings': boolean;
  readonly 'policy.unannotated': PolicyPreferences['unannotated'];
  readonly 'policy.confirm': PolicyPreferences['confirm'];
}

export const POLICY_SETTINGS: Readonly<Record<keyof PolicySettings, SettingFacts>> = {
  approvals: {
    env: 'ASSAY_APPROVALS',
    changedBy: 'admin',
    isLive: true,
    kind: { type: 'choice', of: ['client', 'gateway'], defaultValue: 'client' },
    about:
      'Who confirms calls. client: the MCP client, which reads the hints and asks its user; Assay only records what it would have asked for. gateway: Assay; what needs approval is not carried out without it.',
  },
  'policy.autoApproveReadOnly': {
    env: 'ASSAY_POLICY_AUTO_APPROVE_READ_ONLY',
    changedBy: 'admin',
    isLive: true,
    kind: { type: 'flag', defaultValue: false },
    about: 'Whether calls of read-only tools need no confirmation, unless a rule asks for it.',
  },
  'policy.alwaysConfirmDestructive': {
    env: 'ASSAY_POLICY_ALWAYS_CONFIRM_DESTRUCTIVE',
    changedBy: 'admin',
    isLive: true,
    kind: { type: 'flag', defaultValue: true },
    about: 'Whether each call of a destructive tool needs confirmation, whatever rules and tools allow.',
  },
  'policy.showWarnings': {
    env: 'ASSAY_POLICY_SHOW_WARNINGS',
    changedBy: 'admin',
    isLive: true,
    kind: { type: 'flag', defaultValue: true },
    about:
      'Whether a call that needs approval comes with warnings from its hints, and where each hint comes from.',
  },
  'policy.unannotated': {
    env: 'ASSAY_POLICY_UNANNOTATED',
    changedBy: 'admin',
    isLive: true,
    kind: { type: 'choice', of: ['worst_case', 'ask', 'refuse'], defaultValue: 'worst_case' },
    about:
      'What to do with a tool of which no trusted source states a hint. worst_case: it counts as destructive and open-world, as the specification says. ask, refuse: each of its calls.',
  },
  'policy.confirm': {
    env: 'ASSAY_POLICY_CONFIRM',
    changedBy: 'admin',
    isLive: true,
    kind: { type: 'choice', of: CONFIRMS, defaultValue: 'first' },
    about:
      'How often calls of a tool without a confirm of its own need confirmation. first: once per session of a client.',
  },
};

/** The preferences that the settings state. Session labels count where Assay confirms. */
export function preferencesOf(settings: PolicySettings): PolicyPreferences {
  const { approvals } = settings;
  return {
    approvals,
    autoApproveReadOnly: settings['policy.autoApproveReadOnly'],
    alwaysConfirmDestructive: settings['policy.alwaysConfirmDestructive'],
    showWarnings: settings['policy.showWarnings'],
    unannotated: settings['policy.unannotated'],
    confirm: settings['policy.confirm'],
    outbound: approvals === 'gateway' ? 'ask' : 'allow',
  };
}
