import { type CauseTable, NOTHING } from './cause-row.ts';
/** Causes of the entry of a server. */
export type EntryCause =
  | {
      readonly code: 'ENTRY_INVALID';
      readonly line: number;
      readonly key: string;
      readonly reason: string;
      readonly remedy: string;
    }
  | { readonly code: 'ENTRY_UNREADABLE'; readonly reason: string | undefined }
  | { readonly code: 'NAME_INVALID'; readonly reason: string }
  | { readonly code: 'ENTRY_DISABLED' }
  | { readonly code: 'ENTRY_SHADOWED' }
  | { readonly code: 'ENTRY_CHANGED' }
  | { readonly code: 'ENTRY_REMOVED' }
  | { readonly code: 'SERVER_RESTARTED' };

const ITS_ENTRY = 'Correct its entry in the config, or remove it.';

export const ENTRY_CAUSES: CauseTable<EntryCause> = {
  ENTRY_INVALID: {
    recovery: 'change',
    text: ({ line, key, reason, remedy }) =>
      `its entry in the config cannot be used: line ${line}: ${key}: ${reason}. ${remedy}`,
    remedy: ITS_ENTRY,
  },
  ENTRY_UNREADABLE: {
    recovery: 'change',
    text: ({ reason }) => reason ?? 'its entry cannot be used',
    remedy: 'Register it again with the complete entry: PUT /gateways/{id}.',
  },
  NAME_INVALID: {
    recovery: 'change',
    text: ({ reason }) => `its name cannot be used: ${reason}`,
    remedy: 'Register it under another name (POST /gateways), then delete this one (DELETE /gateways/{id}).',
  },
  ENTRY_DISABLED: {
    recovery: 'change',
    text: () => 'it is disabled',
    remedy: 'Enable it: PATCH /gateways/{id} with {"enabled": true}.',
  },
  ENTRY_SHADOWED: {
    recovery: 'change',
    text: () => 'the config file has another entry with this name',
    remedy: 'Rename or remove one of the two.',
  },
  ENTRY_CHANGED: {
    recovery: 'time',
    text: () => 'its entry in the config has changed; it is being restarted',
    remedy: NOTHING,
  },
  ENTRY_REMOVED: {
    recovery: 'change',
    text: () => 'it was removed from the config',
    remedy: ITS_ENTRY,
  },
  SERVER_RESTARTED: {
    recovery: 'time',
    text: () => 'an operator restarted it',
    remedy: NOTHING,
  },
};
