import type { HintName } from './hint.ts';
import type { ToolVerification } from './verification.ts';

export type { HintName };

export interface HintClaim {
  readonly value: boolean;
  readonly kind: string;
  /** The kind of party that made it. */
  readonly source: string;
  readonly origin: string;
  readonly reason?: string;
  readonly at?: string;
  readonly suspended?: string;
}

export interface ToolHint {
  readonly effective: boolean;
  readonly decidedBy: 'declared' | 'inferred' | 'override' | 'observed' | 'implied' | 'default';
  /** A phrase. */
  readonly reason: string;
  /** The value that decisions use: only trusted claims lower caution. */
  readonly decision: boolean;
  readonly isContradicted: boolean;
  readonly claims: readonly HintClaim[];
}

/** The part of a tool that the pages use. Texts from servers are as sent. */
export interface Tool {
  readonly id: string;
  /** The public name. */
  readonly name: string;
  readonly namespacedName: string;
  readonly serverName: string;
  readonly title?: string;
  readonly description?: string;
  readonly confirm?: 'always' | 'first' | 'never' | 'suspended';
  /** The annotations that clients get. */
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly state: 'enabled' | 'disabled' | 'withheld';
  readonly withheld?: { readonly reason: string };
  readonly hints: Readonly<Record<HintName, ToolHint>>;
  readonly lint: readonly { readonly rule: string; readonly level: string; readonly message: string }[];
  readonly drift?: { readonly isDangerous: boolean };
  readonly verification?: ToolVerification;
  readonly inputSchema?: unknown;
  /** What is enforced for its calls, whatever its code does. Set only if a single tool is requested. */
  readonly guarantee?: { readonly kind: GuaranteeKind; readonly text: string };
}

export type GuaranteeKind =
  'none' | 'read' | 'read_network' | 'node_permission' | 'write_roots' | 'write_index' | 'refused';

/** The part of a tool that lists show. */
export interface ToolSummary extends Pick<
  Tool,
  'id' | 'name' | 'namespacedName' | 'serverName' | 'title' | 'state' | 'drift'
> {
  /** The first 500 characters. */
  readonly description?: string;
  readonly hints: Readonly<Record<HintName, Pick<ToolHint, 'effective' | 'decidedBy' | 'isContradicted'>>>;
  readonly lint: readonly { readonly rule: string; readonly level: string }[];
}

/** The answer to `?summary=true`. */
export interface ToolSummaryPage {
  readonly tools: readonly ToolSummary[];
  readonly total: number;
  readonly nextCursor?: string;
}
