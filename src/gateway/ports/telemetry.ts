import type { RefusalCode } from '../../core/refusal.ts';
import type { TraceContext } from '../../protocol/trace-context.ts';

/** How a relayed request ended: the server's result, the server's error, or a refusal of ours. */
export type RelayEnding = 'ok' | 'error' | RefusalCode;

/** What is counted of one method of one server. Asked for once per request, so that it must cost next to nothing. */
export interface Tally {
  /** Gives the moment, for `end`. */
  begin(): number;
  end(ending: RelayEnding, beganMs: number): void;
}

/** Counts what is relayed, and tells it to whoever collects such numbers. */
export interface Meter {
  of(server: string, method: string): Tally;
  /** A server is being started, for the first time or again. */
  starting(server: string): void;
  /** All numbers as text, and its media type. */
  expose(readings: Readings): Promise<{ readonly type: string; readonly text: string }>;
}

/** What is read off at the moment when the numbers are collected. */
export interface Readings {
  readonly servers: readonly ServerReading[];
  /** All states that a server can be in. */
  readonly states: readonly string[];
  /** Of legacy clients over HTTP. */
  readonly sessions: number;
  /** Of clients over HTTP. */
  readonly connections: number;
  /** Open `subscriptions/listen` over HTTP. */
  readonly subscriptions: number;
  /** Calls that wait for clients of the modern era to come again with answers. */
  readonly parkedCalls: number;
}

export interface ServerReading {
  readonly name: string;
  readonly state: string;
  /** Requests in its queue; undefined: it has none. */
  readonly waiting: number | undefined;
  /** Links to it that belong to one client each. */
  readonly privateLinks: number;
}

/** What a span tells of a relayed request. */
export interface TracedRequest {
  readonly server: string;
  readonly method: string;
  /** The id that the client gave it. */
  readonly id: string;
  /** The tool or prompt by its public name, or the URI of a resource. */
  readonly target: string | undefined;
  /** The client's revision of the protocol. */
  readonly version: string | undefined;
  /** The members of `_meta` that tell of the client's own span: `traceparent`, `tracestate`, `baggage`. */
  readonly context: Readonly<Record<string, string>>;
}

/** How a request ended, as its span tells it. */
export interface TracedEnd {
  readonly ending: RelayEnding;
  /** Of a JSON-RPC error, the server's or ours. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /** The tool ran, and its result says `isError`. */
  readonly isToolError: boolean;
}

/** Where spans begin. There is one only where somebody wants spans. */
export interface Tracer {
  begin(request: TracedRequest): Span;
}

export interface Span {
  /** Its place in its trace, for whoever works on the request next; undefined where the SDK gives none. */
  readonly context?: TraceContext | undefined;
  end(end: TracedEnd): void;
}

/** What watches requests without having a part in them. */
export interface Telemetry {
  readonly meter: Meter | undefined;
  readonly tracer: Tracer | undefined;
  /** Begins a trace where neither the client nor a span has one. */
  readonly newTrace?: (() => TraceContext) | undefined;
  /** Takes secrets out of a text that a peer wrote. */
  readonly mask: (text: string) => string;
}
