/** How the definition of a tool differs from the accepted one. */
export interface DriftDetail {
  readonly since: string;
  readonly severity: 'dangerous' | 'review' | 'harmless';
  readonly dangers: readonly string[];
  readonly flags: readonly string[];
  /** By the path of the member; `before` and `after` are JSON texts, absent if the member did not or does not exist. */
  readonly changes: readonly { readonly path: string; readonly before?: string; readonly after?: string }[];
  /** Hints whose override waits for the review. */
  readonly suspends: readonly string[];
}

/** The part of a tool that a review needs. */
export interface DriftedTool {
  readonly id: string;
  readonly namespacedName: string;
  readonly serverName: string;
  readonly title?: string;
  readonly drift?: DriftDetail;
}

export interface DriftedToolPage {
  readonly tools: readonly DriftedTool[];
  readonly total: number;
}
