export const ADD_KINDS = ['command', 'url', 'openapi', 'rest'] as const;
export type AddKind = (typeof ADD_KINDS)[number];

export const SERVER_TABS = ['state', 'logs', 'review', 'settings'] as const;
export type ServerTab = (typeof SERVER_TABS)[number];

/** What the page shows is in the URL, so that a link shows the same. */
export interface ServerSearch {
  readonly q?: string;
  /** The server in the side panel. */
  readonly server?: string;
  readonly tab?: ServerTab;
  readonly add?: AddKind;
}

export function readServerSearch(given: Record<string, unknown>): ServerSearch {
  const { q, server } = given;
  const tab = SERVER_TABS.find((one) => one === given['tab']);
  const add = ADD_KINDS.find((one) => one === given['add']);
  return {
    ...(typeof q === 'string' && q !== '' && { q }),
    ...(typeof server === 'string' && server !== '' && { server }),
    ...(tab !== undefined && { tab }),
    ...(add !== undefined && { add }),
  };
}
