import { send, type Answer, type Headers } from './http.ts';
import type { Assay } from './assay.ts';
import { at, parseJson, type Json } from './json.ts';
import { bearer } from './tokens.ts';

/** A REST API client with one token; a body that is not a string is sent as JSON. */
export interface AdminClient {
  get(path: string, headers?: Headers): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Headers): Promise<Answer>;
  put(path: string, body?: unknown, headers?: Headers): Promise<Answer>;
  delete(path: string, headers?: Headers): Promise<Answer>;
  ask(
    method: string,
    path: string,
    ask?: { readonly headers?: Headers; readonly body?: unknown },
  ): Promise<Answer>;
}

export function adminClient({ port }: Pick<Assay, 'port'>, token?: string): AdminClient {
  const own = token === undefined ? {} : bearer(token);
  const ask: AdminClient['ask'] = (method, path, { headers = {}, body } = {}) =>
    send(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        ...own,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: bytesOf(body) }),
    });
  return {
    ask,
    get: (path, headers = {}) => ask('GET', path, { headers }),
    post: (path, body, headers = {}) => ask('POST', path, { headers, body }),
    put: (path, body, headers = {}) => ask('PUT', path, { headers, body }),
    delete: (path, headers = {}) => ask('DELETE', path, { headers }),
  };
}

function bytesOf(body: unknown): string | Buffer {
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
}

/** Status and code of an answer: `404 TOOLSET_UNKNOWN`, or the status alone if it is not an error. */
export function verdictOf({ status, type, text }: Answer): string {
  if (status < 400) return String(status);
  const problem: Json = type === 'application/problem+json' ? parseJson(text) : null;
  return `${status} ${String(at(problem, 'code') ?? text)}`;
}
