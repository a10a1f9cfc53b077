import type { Hint } from '@assay-mcp/kit/hint';
import type { Decision } from '../../core/policy/policy.ts';
import type { CauseCode } from '../../core/cause.ts';
import type { RefusalCode } from '../../core/refusal.ts';
import type { StopTarget } from '../../core/stops.ts';
import type { TraceContext } from '@assay-mcp/protocol/trace-context';

/** How a relayed request ended: the server's result, the server's error, or Assay's refusal. */
export type RelayEnding = 'ok' | 'error' | RefusalCode;

/** Counters for one method of one server. Looked up once per request, so it must cost next to nothing. */
export interface Tally {
  /** Returns the start time for `end`. */
  begin(): number;
  end(ending: RelayEnding, beganMs: number): void;
}

/** Counts relayed requests and exposes the metrics. */
export interface Meter {
  of(server: string, method: string): Tally;
  /** Counts a decision of the policy. */
  decided(decision: Decision['kind']): void;
  /** Counts a request that was sent again, and whether it then got a response. */
  repeated(server: string, isAnswered: boolean): void;
  /** Counts a call that was answered from the cache of results. */
  cached(server: string): void;
  /** Counts calls that are missing in the call record. */
  unrecorded(calls: number): void;
  /** Counts a call of a tool. `tool`: its name on its server; `server` is empty for Assay's own tools. */
  called(server: string, tool: string, ended: ToolCallEnd): void;
  /** Counts a request that was refused for its credentials. */
  refusedClient(code: RefusalCode): void;
  /** Counts a connection to a server that failed because Assay is not signed in to it. */
  notSignedIn(server: string, code: CauseCode): void;
  /** Counts a call of the store. `isDone`: false if the store failed. */
  stored(operation: 'read' | 'write', durationMs: number, isDone: boolean): void;
  /** Counts telemetry and events that were dropped because they could not be delivered in time. */
  dropped(kind: DroppedKind, count: number): void;
  /** All metrics as text, with its media type. */
  expose(readings: Readings): Promise<{ readonly type: string; readonly text: string }>;
}

/** How a call of a tool ended; `tool_error`: the tool ran and reported an error. */
export type ToolOutcome = 'ok' | 'tool_error' | 'error' | 'input_required' | 'refused';

export interface ToolCallEnd {
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
}

/** What can be dropped: exports by OTLP, or lines of the event log. */
export type DroppedKind = 'spans' | 'metrics' | 'logs' | 'events';

/** Gauges, read when the metrics are collected. */
export interface Readings {
  readonly servers: readonly ServerReading[];
  /** All states a server can be in. */
  readonly states: readonly string[];
  /** Sessions of legacy clients over HTTP. */
  readonly sessions: number;
  /** HTTP client connections. */
  readonly connections: number;
  /** Open `subscriptions/listen` streams over HTTP. */
  readonly subscriptions: number;
  /** Suspended calls that wait for modern clients to return with answers. */
  readonly suspendedCalls: number;
  /** Whether this process can take requests: it is not stopping, and its store can be used. */
  readonly isReady: boolean;
  /** Code of the fault of the store. Undefined if it has none. */
  readonly storeFault: string | undefined;
  /** Number of stops in force, by kind. */
  readonly stops: Readonly<Record<StopTarget['kind'], number>>;
  /** Undefined if the store cannot say. */
  readonly approvals: PendingApprovals | undefined;
}

/** The approvals that wait for an answer. */
export interface PendingApprovals {
  readonly count: number;
  /** Age of the oldest in ms. 0 if there is none. */
  readonly oldestMs: number;
}

export interface ServerReading {
  readonly name: string;
  readonly state: string;
  /** Number of its restarts, not counting private links. */
  readonly restarts: number;
  /** Requests in its queue. Undefined if it has none. */
  readonly waiting: number | undefined;
  /** Links that each belong to one client. */
  readonly privateLinks: number;
}

/** The attributes of a relayed request in its span. */
export interface TracedRequest {
  readonly server: string;
  readonly method: string;
  /** The client's request id. */
  readonly id: string;
  /** Public name of the tool or prompt, or URI of the resource. */
  readonly target: string | undefined;
  /** The client's protocol revision. */
  readonly version: string | undefined;
  /** Members of `_meta` that describe the client's own span: `traceparent`, `tracestate`, `baggage`. */
  readonly context: Readonly<Record<string, string>>;
  /** For a call of a tool: the values of its hints used in the decision. */
  readonly hints?: Readonly<Record<Hint, boolean>> | undefined;
  /** Undefined if there was nothing to decide. */
  readonly decision?: Decision | undefined;
}

/** How a request ended, as its span records it. */
export interface TracedEnd {
  readonly ending: RelayEnding;
  /** A JSON-RPC error, the server's or Assay's. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /** The tool ran, and its result has `isError`. */
  readonly isToolError: boolean;
}

/** Starts spans. Exists only if spans are exported. */
export interface Tracer {
  begin(request: TracedRequest): Span;
}

export interface Span {
  /** Trace context to pass on with the request. Undefined if the SDK provides none. */
  readonly context?: TraceContext | undefined;
  end(end: TracedEnd): void;
}

/** A `tools/call` that has ended. */
export interface LoggedCall {
  /** JSON text of the client's name and version. */
  readonly client: string | undefined;
  /** The name that the client called. */
  readonly tool: string;
  readonly ms: number;
  /** `tool_error`: the tool ran and reported an error. */
  readonly outcome: RelayEnding | 'tool_error';
}

export interface LoggedClient {
  /** JSON text of its name and version. */
  readonly client: string | undefined;
  readonly transport: 'http' | 'sse' | 'stdio';
  readonly revision: string;
  /** The path, or the view of a stdio server. */
  readonly endpoint: string;
  readonly subject: string;
  /** Whether it has no handshake, so that any request could be its first. */
  readonly isStateless: boolean;
  /** Whether its mode is that of the process, so that clients can change what others see. */
  readonly sharesMode?: boolean;
}

/** Logs clients and calls for the operator. Exists only if the log shows them. */
export interface TrafficLog {
  /** Counts a call; returns whether its line is wanted. */
  admitsCall(nowMs: number, hasFailed: boolean): boolean;
  call(ended: LoggedCall): void;
  connected(client: LoggedClient): void;
}

/** Observes requests without taking part in them. */
export interface Telemetry {
  readonly meter: Meter | undefined;
  readonly tracer: Tracer | undefined;
  readonly traffic?: TrafficLog | undefined;
  /** Starts a trace if neither the client nor a span has one. */
  readonly newTrace?: (() => TraceContext) | undefined;
  /** Masks secrets in text from a peer. */
  readonly mask: (text: string) => string;
}

/** Number of tokens of a text for a large language model. */
export type CountTokens = (text: string) => number;
