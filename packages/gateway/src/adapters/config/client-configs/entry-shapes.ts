import type { JsonObject } from '@assay-mcp/kit/json-object';

/** How a client writes an entry. */
export interface EntryShape {
  readonly stdio: (command: string, args: readonly string[]) => JsonObject;
  /** Undefined if the client supports only commands. */
  readonly http: ((url: string) => JsonObject) | undefined;
}

const stdio: EntryShape['stdio'] = (command, args) => ({ command, args });

export const COMMAND_ONLY: EntryShape = { stdio, http: undefined };

export const PLAIN: EntryShape = { stdio, http: (url) => ({ url }) };

export const TYPED: EntryShape = {
  stdio: (command, args) => ({ type: 'stdio', command, args }),
  http: (url) => ({ type: 'http', url }),
};

export const SERVER_URL: EntryShape = { stdio, http: (serverUrl) => ({ serverUrl }) };

/** Versions without `type` take a plain `url` for the older transport. */
export const HTTP_URL: EntryShape = { stdio, http: (httpUrl) => ({ httpUrl }) };

/** A `url` without a type means the older transport. */
export const STREAMABLE: EntryShape = { stdio, http: (url) => ({ type: 'streamableHttp', url }) };

export const OPENCODE: EntryShape = {
  stdio: (command, args) => ({ type: 'local', command: [command, ...args] }),
  http: (url) => ({ type: 'remote', url }),
};

/** Versions before 2026 need the source. */
export const ZED: EntryShape = {
  stdio: (command, args) => ({ source: 'custom', command, args }),
  http: (url) => ({ source: 'custom', url }),
};
