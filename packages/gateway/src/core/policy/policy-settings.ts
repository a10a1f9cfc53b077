import { type SettingFacts, createWholeKind } from '../setting-kind.ts';
import { CONFIRMS } from '../confirm.ts';
import type { PolicyPreferences } from './policy.ts';
import { MAX_TIMER_MS } from '@assay-mcp/kit/timer';

/** Preferences for decisions on calls. They take effect at once. */
export interface PolicySettings {
  readonly approvals: PolicyPreferences['approvals'];
  readonly 'policy.approver': PolicyPreferences['approver'];
  readonly 'policy.autoApproveReadOnly': boolean;
  readonly 'policy.alwaysConfirmDestructive': boolean;
  readonly 'policy.showWarnings': boolean;
  readonly 'policy.unannotated': PolicyPreferences['unannotated'];
  readonly 'policy.confirm': PolicyPreferences['confirm'];
  readonly 'policy.outbound': 'by_approvals' | PolicyPreferences['outbound'];
  readonly 'policy.trustObservations': boolean;
  readonly 'policy.labelIdleMs': number;
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
  'policy.approver': {
    env: 'ASSAY_POLICY_APPROVER',
    changedBy: 'admin',
    isLive: true,
    kind: { type: 'choice', of: ['by_transport', 'client', 'inbox'], defaultValue: 'by_transport' },
    about:
      'Who answers when Assay asks. client: the user of the client that calls, in the client. inbox: an operator, by assay approvals, on the admin pages or by a token of scope admin. by_transport: client over stdio, inbox over HTTP.',
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
  'policy.outbound': {
    env: 'ASSAY_POLICY_OUTBOUND',
    changedBy: 'admin',
    isLive: true,
    kind: { type: 'choice', of: ['by_approvals', 'allow', 'ask', 'refuse'], defaultValue: 'by_approvals' },
    about:
      'What to do with a call that could carry data out, if its caller has seen untrusted content and private data. by_approvals, ask: ask once per session and destination server if approvals is gateway, otherwise only record what would have been asked.',
  },
  'policy.trustObservations': {
    env: 'ASSAY_POLICY_TRUST_OBSERVATIONS',
    changedBy: 'admin',
    isLive: true,
    kind: { type: 'flag', defaultValue: false },
    about:
      'Whether a tool that a verification observed to make no request counts as unable to carry data out. It may behave differently later; a sandbox without a network is certain.',
  },
  'policy.labelIdleMs': {
    env: 'ASSAY_POLICY_LABEL_IDLE_MS',
    changedBy: 'admin',
    isLive: true,
    kind: createWholeKind(60 * 60 * 1_000, 1_000, MAX_TIMER_MS),
    about:
      'Time in ms without a tool call after which it no longer counts that a caller has seen untrusted content or private data.',
  },
};

/** The preferences in the settings. */
export function getPolicyPreferences(settings: PolicySettings): PolicyPreferences {
  const { approvals, 'policy.outbound': outbound } = settings;
  return {
    approvals,
    approver: settings['policy.approver'],
    autoApproveReadOnly: settings['policy.autoApproveReadOnly'],
    alwaysConfirmDestructive: settings['policy.alwaysConfirmDestructive'],
    showWarnings: settings['policy.showWarnings'],
    unannotated: settings['policy.unannotated'],
    confirm: settings['policy.confirm'],
    outbound: outbound === 'by_approvals' ? 'ask' : outbound,
    isOutboundChosen: outbound !== 'by_approvals',
    trustObservations: settings['policy.trustObservations'],
  };
}
