import type * as z from 'zod';
import type { Refusal, RefusalCode } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { Identity, Scope } from '../../core/subject.ts';
import type { Failure } from './failure.ts';
import type { Page, PageQuery } from './paging.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** One operation of the REST API: its input and output, as documented in `/openapi.json`. */
export interface RouteSpec<Q extends z.ZodType, B extends z.ZodType> {
  readonly method: Method;
  /** In OpenAPI syntax: `/tokens/{id}`. */
  readonly path: string;
  /** The operationId, which code generators use: `createToken`. */
  readonly id: string;
  readonly summary: string;
  readonly about?: string;
  /** Defaults to `read` for GET and `admin` otherwise. */
  readonly scope?: Scope;
  /** Accepts `limit` and `cursor`, passed on as `call.page`. */
  readonly isPaged?: boolean;
  /** Accepts `If-Match`; the handler checks it with `call.unmet`. */
  readonly isConditional?: boolean;
  /** Values are strings before the schema parses them. */
  readonly query?: Q;
  readonly body?: BodySpec<B>;
  readonly answer: AnswerSpec;
  /** Possible refusals, in addition to those that query and body imply. */
  readonly refusals?: readonly RefusalCode[];
}

export interface BodySpec<B extends z.ZodType> {
  readonly schema: B;
  readonly examples: Readonly<Record<string, unknown>>;
  /** What GET shows now, to recognize an unchanged copy in the body. Takes path parameters by name. */
  readonly current?: (param: (name: string) => string) => Promise<CurrentView>;
  /** Overrides the default limits. */
  readonly limits?: BodyLimits;
}

type CurrentView = Readonly<Record<string, unknown>> | undefined;

export interface BodyLimits {
  readonly bytes: number;
  /** Maximum nesting depth. */
  readonly depth: number;
}

export interface AnswerSpec {
  readonly status?: 200 | 201 | 204;
  readonly about: string;
  readonly schema?: z.ZodType;
  readonly example?: unknown;
  /** Media type, if not JSON. */
  readonly type?: string;
}

/** A request after parsing. */
export interface RestCall<Q, B> {
  readonly identity: Identity;
  readonly query: Q;
  readonly body: B;
  readonly page: PageQuery;
  /** A decoded path parameter. */
  readonly param: (name: string) => string;
  /** The JSON pointer to a part of `body`, in the body as sent. */
  readonly pointerTo: (...path: readonly PropertyKey[]) => string;
  /** PRECONDITION_FAILED if If-Match requires another representation. */
  readonly unmet: (representation: unknown) => Refusal | undefined;
  /** The value of a header. */
  header(name: string): string | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Whether the response is sent without its body. */
  readonly isHead: boolean;
}

export type Reply =
  /**
   * One resource, with an ETag; 304 if the client has it. `of`: the part of the body that the ETag covers, if not all.
   */
  | {
      readonly kind: 'one';
      readonly body: unknown;
      readonly of?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'list'; readonly body: unknown }
  | { readonly kind: 'none' }
  | { readonly kind: 'stream'; readonly body: ReadableStream<Uint8Array>; readonly type: string };

/** An operation and its handler. */
export interface Route {
  readonly spec: RouteSpec<z.ZodType, z.ZodType>;
  readonly answer: (call: RestCall<unknown, unknown>) => Answered;
}

export type Answered = Result<Reply, Failure> | Promise<Result<Reply, Failure>>;

/** `answer` gets query and body as parsed by the schemas; invalid ones are refused first. */
export function route<Q extends z.ZodType = z.ZodUndefined, B extends z.ZodType = z.ZodUndefined>(
  spec: RouteSpec<Q, B>,
  answer: (call: RestCall<z.output<Q>, z.output<B>>) => Answered,
): Route {
  return {
    spec,
    // Callers parse query and body with the schemas of this spec.
    answer: answer as unknown as Route['answer'],
  };
}

/** `{"tokens": […], "nextCursor": …}` */
export function toListReply(name: string, { items, nextCursor }: Page<unknown>): Reply {
  return { kind: 'list', body: { [name]: items, ...(nextCursor !== undefined && { nextCursor }) } };
}
