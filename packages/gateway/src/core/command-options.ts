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
  /**
   * Listen at the socket of the home only, until the pages are opened, and end when idle: for clients that start the
   * gateway by attaching to it.
   */
  readonly onDemand?: boolean;
  /** Show the log at a terminal too, instead of only in the file. */
  readonly verbose?: boolean;
  /** Write the log to its file only, because a terminal shows something else. */
  readonly hidesLog?: boolean;
  /** Resolves when the process is asked to stop. Called only if the store has to be waited for. */
  readonly untilStopped?: () => Promise<void>;
  /** Called if the store has to be waited for. */
  readonly onWaiting?: () => void;
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
  /** Use the gateway of the home, and start it in the background if none runs, instead of starting the servers. */
  readonly attach?: boolean;
  /** False: with `attach`, a gateway that runs is used, but none is started. */
  readonly background?: boolean;
}

export interface DiagnosticsOptions extends AppOptions {
  /** Do not start servers. */
  readonly offline: boolean;
  /** Start servers even if the gateway of this home is running. */
  readonly start: boolean;
  /** Called for each server once it is ready or has failed. */
  readonly onNews: (server: string, isUp: boolean) => void;
}
