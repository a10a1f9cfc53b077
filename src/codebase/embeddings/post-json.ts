import type { HttpClient, ResponseHeaders } from '../../platform/http-client.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { EmbeddingFault } from './embedding-provider.ts';

export interface Post {
  readonly path: string;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: unknown;
  readonly limitMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Posted {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly text: string;
}

/** Posts JSON and reads the whole response, within a time limit and a size limit. */
export function postJson(client: HttpClient, post: Post): Promise<Result<Posted, EmbeddingFault>> {
  const { path, limitMs, maxBytes, signal } = post;
  if (signal?.aborted === true) return Promise.resolve(err({ code: 'CANCELLED' }));
  return new Promise((resolve) => {
    let [status, size] = [0, 0];
    let headers: ResponseHeaders = {};
    const chunks: Buffer[] = [];
    const settle = (result: Result<Posted, EmbeddingFault>): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      resolve(result);
    };
    const stop = (fault: EmbeddingFault): void => {
      settle(err(fault));
      abort();
    };
    const cancel = (): void => stop({ code: 'CANCELLED' });
    const timer = setTimeout(() => stop({ code: 'TIMED_OUT', limitMs }), limitMs);
    signal?.addEventListener('abort', cancel);
    const body = Buffer.from(JSON.stringify(post.body));
    const ownHeaders = ['content-type', 'application/json', 'accept', 'application/json'];
    const abort = client.call(
      { method: 'POST', path, headers: [...ownHeaders, ...post.headers], body: [body] },
      {
        start(given, givenHeaders) {
          [status, headers] = [given, givenHeaders];
        },
        data(chunk) {
          size += chunk.length;
          if (size > maxBytes) stop({ code: 'ANSWER_TOO_LARGE', maxBytes });
          else chunks.push(chunk);
        },
        end: () => settle(ok({ status, headers, text: Buffer.concat(chunks).toString('utf8') })),
        error: (fault) => settle(err({ code: 'UNREACHABLE', fault })),
      },
    );
  });
}
