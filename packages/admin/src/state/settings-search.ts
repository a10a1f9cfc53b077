export const SETTINGS_SECTIONS = ['preferences', 'rules', 'tokens', 'browsers', 'backup'] as const;

export type SettingsSection = (typeof SETTINGS_SECTIONS)[number];

export interface SettingsSearch {
  readonly section?: SettingsSection;
}

export function readSettingsSearch(given: Record<string, unknown>): SettingsSearch {
  const section = SETTINGS_SECTIONS.find((one) => one === given['section']);
  return section === undefined || section === 'preferences' ? {} : { section };
}
