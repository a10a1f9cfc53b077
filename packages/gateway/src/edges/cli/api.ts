import type { CodedProblem } from '../../api/problem.ts';
import type { Result } from '@assay-mcp/kit/result';

/** A request to the REST API (docs/API.md). */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With encoded segments, see `apiPath`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The ETag of what the operator saw; PRECONDITION_FAILED if it changed since. */
  readonly ifMatch?: string;
}

/** A resource and its ETag. */
export interface Tagged<T> {
  readonly value: T;
  readonly etag: string;
}

/** The REST API of the running gateway of this home; without one, answered in this process. */
export interface Api {
  /** `T`: the documented form of the body; undefined for status 204. */
  send<T>(request: ApiRequest): Promise<Result<T, CodedProblem>>;
  /** Reads one resource with its ETag. */
  read<T>(path: string): Promise<Result<Tagged<T>, CodedProblem>>;
  /** For a body that is not JSON: calls back with its text as it arrives. */
  stream(
    request: ApiRequest,
    onText: (text: string) => Promise<void>,
  ): Promise<Result<undefined, CodedProblem>>;
  /** Whether this process answered, as no gateway of this home is running. */
  isLocal(): boolean;
  close(): Promise<void>;
}
