import type { FixedLimits } from './fixed-limits.ts';

/** Options shared by all commands. */
export interface AppOptions {
  /** Path of the config file. */
  readonly config?: string;
  /** Folder of Assay's data. */
  readonly home?: string;
  /** Environment variables; defaults to those of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Receives each log line; defaults to stderr. */
  readonly writeLog?: (line: string) => void;
  /** Other values for fixed limits. */
  readonly limits?: Partial<FixedLimits>;
}

export interface ServeOptions extends AppOptions {
  readonly host: string;
  readonly port: number;
}

/** Overrides the equipped toolset for a client. */
export interface ViewOptions {
  /** All tools of all servers. */
  readonly all?: boolean;
  /** The tools of this toolset. */
  readonly toolset?: string;
  /** Three tools that find, describe and call all others. */
  readonly search?: boolean;
}

export interface StdioOptions extends AppOptions, ViewOptions {
  /** Relay to a running `serve` of the same home instead of starting the servers. */
  readonly attach?: boolean;
}

export interface DiagnosticsOptions extends AppOptions {
  /** Do not start servers. */
  readonly offline: boolean;
  /** Start servers even if the gateway of this home is running. */
  readonly start: boolean;
  /** Called for each server once it is ready or has failed. */
  readonly onNews: (server: string, isUp: boolean) => void;
}
