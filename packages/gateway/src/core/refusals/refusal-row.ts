/** How a refusal is reported on each of the three surfaces. */
export interface ReportedCodes {
  /** JSON-RPC error code, https://www.jsonrpc.org/specification#error_object and MCP basic/index#error-codes. */
  readonly rpc: number;
  /** JSON-RPC code in legacy protocol versions, if different. */
  readonly legacyRpc?: number;
  /** HTTP status if the refusal is decided before the message reaches a server. */
  readonly http: number;
  /** HTTP status in the REST API, if it differs from `http` (MCP may report the refusal within a 200 response). */
  readonly rest?: number;
  /** Exit code of the command line, see EXIT. */
  readonly exit: 'failed' | 'usage' | 'config' | 'unavailable';
}

export interface RefusalRow<R> {
  readonly reported: ReportedCodes;
  /** It is about what a model wants to do, not about the form of its request, so models should read why. */
  readonly isToolError?: true;
  /** One or two sentences: what happened, why, and what to do. The caller cuts and escapes the inserted texts. */
  readonly sentence: (refusal: R) => string;
}

/** One row per code of a union of refusals. */
export type RefusalTable<R extends { readonly code: string }> = {
  readonly [C in R['code']]: RefusalRow<Extract<R, { readonly code: C }>>;
};

export const NOT_JSON = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL = -32603;
