import { z } from '@hono/zod-openapi';
import type { Refusal, RefusalCode } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { Identity, Scope } from '../../core/subject.ts';
import type { Failure } from './failure.ts';
import type { Page, PageQuery } from './paging.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** One operation of the REST API: what it takes and gives, as its clients read it in `/openapi.json`. */
export interface RouteSpec<Q extends z.ZodType, B extends z.ZodType> {
  readonly method: Method;
  /** As in OpenAPI: `/tokens/{id}`. */
  readonly path: string;
  /** Under which it is known to programs that are made from the document: `createToken`. */
  readonly id: string;
  readonly summary: string;
  readonly about?: string;
  /** `read` where it reads and `admin` where it writes, if nothing else is said. */
  readonly scope?: Scope;
  /** Takes `limit` and `cursor`; the wish is `call.page`. */
  readonly isPaged?: boolean;
  /** Takes `If-Match`; whoever answers asks `call.unmet`. */
  readonly isConditional?: boolean;
  /** Members are strings before they are checked. */
  readonly query?: Q;
  readonly body?: BodySpec<B>;
  readonly answer: AnswerSpec;
  /** Beside those that its parts bring with them. */
  readonly refusals?: readonly RefusalCode[];
}

export interface BodySpec<B extends z.ZodType> {
  readonly schema: B;
  /** The object may stand within one that has it alone, under this name. */
  readonly wrapper: string;
  readonly examples: Readonly<Record<string, unknown>>;
  /** Where other ones hold than for most bodies. */
  readonly limits?: BodyLimits;
}

export interface BodyLimits {
  readonly bytes: number;
  /** Levels of nesting. */
  readonly depth: number;
}

export interface AnswerSpec {
  readonly status?: 200 | 201 | 204;
  readonly about: string;
  readonly schema?: z.ZodType;
  readonly example?: unknown;
  /** Where it is not JSON. */
  readonly type?: string;
}

/** One request, as far as it was read. */
export interface Call<Q, B> {
  readonly identity: Identity;
  readonly query: Q;
  readonly body: B;
  readonly page: PageQuery;
  /** A part of the path, decoded. */
  readonly param: (name: string) => string;
  /** The JSON pointer, in the body as it was sent, of a part of `body`. */
  readonly pointerTo: (...path: readonly PropertyKey[]) => string;
  /** PRECONDITION_FAILED where If-Match asks for another representation than this. */
  readonly unmet: (representation: unknown) => Refusal | undefined;
  /** The value of a header. */
  header(name: string): string | undefined;
  /** Aborted when who asked is gone. */
  readonly signal: AbortSignal;
}

export type Reply =
  /** One thing: with an ETag, and 304 where who asks has it. `of`: what of the body counts for that, where not all does. */
  | {
      readonly kind: 'one';
      readonly body: unknown;
      readonly of?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'list'; readonly body: unknown }
  | { readonly kind: 'none' }
  | { readonly kind: 'stream'; readonly body: ReadableStream<Uint8Array>; readonly type: string };

/** An operation with what answers it. */
export interface Route {
  readonly spec: RouteSpec<z.ZodType, z.ZodType>;
  readonly answer: (call: Call<unknown, unknown>) => Answered;
}

export type Answered = Result<Reply, Failure> | Promise<Result<Reply, Failure>>;

/** `answer` gets what the schemas make of query and body; what does not fit them is refused before. */
export function route<Q extends z.ZodType = z.ZodUndefined, B extends z.ZodType = z.ZodUndefined>(
  spec: RouteSpec<Q, B>,
  answer: (call: Call<z.output<Q>, z.output<B>>) => Answered,
): Route {
  return {
    spec,
    // Whoever calls it has read query and body by the schemas of this spec.
    answer: answer as unknown as Route['answer'],
  };
}

/** `{"tokens": […], "nextCursor": …}` */
export function listReply(name: string, { items, nextCursor }: Page<unknown>): Reply {
  return { kind: 'list', body: { [name]: items, ...(nextCursor !== undefined && { nextCursor }) } };
}

/** The schema of that. */
export function listSchema(name: string, item: z.ZodType): z.ZodType {
  const nextCursor = z.string().optional().openapi({
    description: 'Asks for what comes after this page, as `cursor`; absent on the last page.',
  });
  return z.object({ [name]: z.array(item), nextCursor });
}
