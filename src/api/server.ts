import type { HintName, ToolHint } from './tool.ts';

export interface Gateway {
  readonly id: string;
  readonly name: string;
  readonly origin: 'config_file' | 'registered';
  readonly transport?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Absent: off. */
  readonly sandbox?: 'twin' | 'strict';
  readonly roots?: readonly string[];
  /** Hosts that it may reach. Absent: all at public addresses. */
  readonly network?: readonly string[];
  readonly sandboxAccepts?: readonly ('separate_state' | 'node_permission')[];
  /** Its tools that a verification saw keep state in memory. */
  readonly stateful?: readonly string[];
  /** Names alone. */
  readonly env?: readonly string[];
  readonly url?: string;
  /** Names alone. */
  readonly headers?: readonly string[];
  /** The document that its tools are made from. */
  readonly openapi?: string;
  readonly baseUrl?: string;
  readonly timeoutMs?: number;
  readonly isolation?: 'session' | 'shared';
  readonly enabled: boolean;
  readonly reachable: boolean;
  readonly state: string;
  /** A sentence. */
  readonly cause?: string;
  /** For example PROCESS_EXITED. */
  readonly causeCode?: string;
  readonly era?: string;
  readonly revision?: string;
  readonly trust?: { readonly value: boolean; readonly origin: 'config_file' | 'operator' | 'default' };
  readonly toolCount: number;
  /** Parts of its source that could not become tools. */
  readonly skipped?: readonly { readonly what: string; readonly why: string }[];
  readonly createdAt?: string;
  readonly createdBy?: string;
}

export interface GatewayList {
  readonly gateways: readonly Gateway[];
}

/** Tools that a refresh found changed, by the server's own names. */
export interface RefreshView {
  readonly toolsAdded: readonly string[];
  readonly toolsUpdated: readonly string[];
  readonly toolsRemoved: readonly string[];
}

/** A line that a server wrote, or that Assay logged about it. */
export interface GatewayLogLine {
  readonly id: number;
  readonly at: string;
  readonly level: 'info' | 'warn' | 'error';
  readonly from: 'stderr' | 'assay';
  readonly text: string;
}

export interface GatewayLogs {
  readonly lines: readonly GatewayLogLine[];
}

/** The instructions of a server for models. */
export interface Instructions {
  readonly gatewayId: string;
  readonly serverName: string;
  /** The accepted text, which models get. */
  readonly text: string;
  /** The server's current text. */
  readonly drift?: { readonly since: string; readonly text: string };
}

export interface InstructionsList {
  readonly instructions: readonly Instructions[];
}

/** The tools that an OpenAPI document would add. */
export interface DocumentPreview {
  readonly total: number;
  /** The first ones. */
  readonly tools: readonly DocumentTool[];
  readonly skipped: readonly { readonly what: string; readonly why: string }[];
}

export interface DocumentTool {
  readonly name: string;
  readonly title?: string;
  readonly method?: string;
  readonly path?: string;
  readonly hints: Readonly<Record<HintName, Pick<ToolHint, 'effective' | 'decidedBy' | 'reason'>>>;
}
