/** The text that a user pastes into the config file of an MCP client to connect it to Assay. */
export interface ClientSnippet {
  readonly id: string;
  readonly label: string;
  /** Path of this user's config file on this machine. */
  readonly path: string;
  readonly format: 'json' | 'toml';
  /** The client starts Assay itself. */
  readonly stdio: string;
  /** The client connects to this address. Undefined if it supports only commands. */
  readonly http?: string;
  /** How to make the client reload its file. */
  readonly next: string;
}

export interface SnippetRequest {
  readonly url: string;
  /** Undefined: the equipped one. */
  readonly toolset: string | undefined;
}

export type ClientSnippets = (request: SnippetRequest) => Promise<readonly ClientSnippet[]>;
