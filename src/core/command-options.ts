/** Where a command works. */
export interface AppOptions {
  /** Path of the config file. */
  readonly config?: string;
  /** The folder of what Assay keeps. */
  readonly home?: string;
  /** Its variables; those of this process by default. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Takes each line of the log; stderr by default. */
  readonly writeLog?: (line: string) => void;
}

export interface ServeOptions extends AppOptions {
  readonly host: string;
  readonly port: number;
}

/** What a client sees, whatever toolset is equipped. */
export interface ViewOptions {
  /** All tools of all servers. */
  readonly all?: boolean;
  /** The tools of this toolset. */
  readonly toolset?: string;
}

export interface StdioOptions extends AppOptions, ViewOptions {
  /** Relay to a running `serve` of the same home instead of starting the servers. */
  readonly attach?: boolean;
}

export interface DiagnosticsOptions extends AppOptions {
  /** Servers are not started. */
  readonly offline: boolean;
  /** Called for each server as soon as it is known whether it came up. */
  readonly onNews: (server: string, isUp: boolean) => void;
}
