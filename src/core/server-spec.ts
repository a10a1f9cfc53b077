/** How a server is reached. `auto` tries Streamable HTTP first, then the older HTTP+SSE. */
export type Transport =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
    }
  | {
      readonly kind: 'http';
      readonly flavour: 'auto' | 'streamable' | 'sse';
      readonly url: URL;
      readonly headers: Readonly<Record<string, string>>;
    };

/** One downstream MCP server as the config describes it, checked, defaults filled in. */
export interface ServerSpec {
  /** The key under `mcpServers`. */
  readonly name: string;
  readonly transport: Transport;
  /** Longest time in ms that one call may stay without a result or progress. */
  readonly timeoutMs: number;
  /** Whether public names carry the server's name in front. */
  readonly prefix: boolean;
}

/** Time limit of a call where the config says nothing, in ms. */
export const DEFAULT_TIMEOUT_MS = 60_000;
