import { type Identity, LOCAL_USER } from '../subject.ts';
import type { PolicySettings } from './policy-settings.ts';

/** The preferences that can differ per token. Who confirms is the same for all. */
export type TokenPreferenceKey = Exclude<
  keyof PolicySettings,
  'approvals' | 'policy.approver' | 'policy.labelIdleMs'
>;

export const TOKEN_PREFERENCES: readonly TokenPreferenceKey[] = [
  'policy.autoApproveReadOnly',
  'policy.alwaysConfirmDestructive',
  'policy.showWarnings',
  'policy.unannotated',
  'policy.confirm',
  'policy.outbound',
  'policy.trustObservations',
];

/** The id under which a caller's preferences are stored. Undefined for tokens that Assay did not issue. */
export function getPreferencesId({
  tokenId,
  subject,
}: Pick<Identity, 'tokenId' | 'subject'>): string | undefined {
  return tokenId ?? (subject === LOCAL_USER.subject ? LOCAL_USER.subject : undefined);
}

export function isTokenPreference(key: string): key is TokenPreferenceKey {
  return TOKEN_PREFERENCES.some((known) => known === key);
}
