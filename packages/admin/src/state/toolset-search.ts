export const TOOLSET_TABS = ['tools', 'notes', 'clients', 'settings'] as const;
export type ToolsetTab = (typeof TOOLSET_TABS)[number];

export interface ToolsetSearch {
  /** The toolset in the side panel. */
  readonly toolset?: string;
  readonly tab?: ToolsetTab;
  /** Whether the form for a new toolset is open. */
  readonly add?: true;
}

export function readToolsetSearch(given: Record<string, unknown>): ToolsetSearch {
  const { toolset } = given;
  const tab = TOOLSET_TABS.find((one) => one === given['tab']);
  return {
    ...(typeof toolset === 'string' && toolset !== '' && { toolset }),
    ...(tab !== undefined && { tab }),
    ...(given['add'] === true && { add: true as const }),
  };
}
