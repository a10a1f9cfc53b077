import { type SettingFacts, createWholeKind } from '../setting-kind.ts';

/** What is recorded about calls, and how long it is kept. */
export interface ActivitySettings {
  readonly 'activity.calls': boolean;
  readonly 'activity.arguments': 'none' | 'masked' | 'full';
  readonly 'activity.maxCalls': number;
  readonly 'activity.maxDays': number;
}

export const ACTIVITY_SETTINGS: Readonly<Record<keyof ActivitySettings, SettingFacts>> = {
  'activity.calls': {
    env: 'ASSAY_ACTIVITY_CALLS',
    changedBy: 'admin',
    kind: { type: 'flag', defaultValue: true },
    about: 'Whether calls of tools are recorded, where there is a store.',
  },
  'activity.arguments': {
    env: 'ASSAY_ACTIVITY_ARGUMENTS',
    changedBy: 'admin',
    kind: { type: 'choice', of: ['none', 'masked', 'full'], defaultValue: 'none' },
    about:
      'Which arguments of calls are recorded. masked: up to 4,000 characters, without known secrets and values of members whose names sound like secrets. full: up to 16,384 characters, as sent.',
  },
  'activity.maxCalls': {
    env: 'ASSAY_ACTIVITY_MAX_CALLS',
    changedBy: 'admin',
    kind: createWholeKind(1_000_000, 1_000, 20_000_000),
    about: 'Maximum number of calls in the record; older ones are removed.',
  },
  'activity.maxDays': {
    env: 'ASSAY_ACTIVITY_MAX_DAYS',
    changedBy: 'admin',
    kind: createWholeKind(30, 1, 3_650),
    about: 'Time in days after which calls are removed from the record.',
  },
};
