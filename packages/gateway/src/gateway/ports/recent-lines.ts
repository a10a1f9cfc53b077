/** A line about a server: what it wrote to stderr, or what Assay logged about it. Secrets are masked. */
export interface RecentLine {
  /** Increases with each line of any server. */
  readonly id: number;
  readonly atMs: number;
  readonly level: 'info' | 'warn' | 'error';
  readonly from: 'stderr' | 'assay';
  readonly text: string;
}

/** The last lines about each server, oldest first, kept while this process runs. */
export interface RecentLines {
  of(server: string): readonly RecentLine[];
}
