/** What a user pastes into the config file of an MCP client, so that it uses Assay. */
export interface ClientSnippet {
  readonly id: string;
  readonly label: string;
  /** The file of this user on this machine. */
  readonly path: string;
  readonly format: 'json' | 'toml';
  /** The client starts Assay itself. */
  readonly stdio: string;
  /** The client connects to this address. Undefined if it supports commands alone. */
  readonly http?: string;
  /** How to make the client reload its file. */
  readonly next: string;
}

export interface SnippetRequest {
  readonly url: string;
  /** Undefined: whatever is equipped. */
  readonly toolset: string | undefined;
}

export type ClientSnippets = (request: SnippetRequest) => Promise<readonly ClientSnippet[]>;
