import type { ProblemView } from '../../../src/edges/rest/contract/problem.ts';

/** A request that was refused, with the problem that the server described. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor({ status, code, detail }: Pick<ProblemView, 'status' | 'code' | 'detail'>) {
    super(detail);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
  }
}

/** GET as JSON. */
export function read<T>(path: string, signal?: AbortSignal): Promise<T> {
  return ask<T>(path, { signal: signal ?? null });
}

/** A request that changes something. Undefined if there is no answer to read. */
export function write<T>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<T> {
  const json =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return ask<T>(path, { method, ...json });
}

async function ask<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, credentials: 'same-origin' });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError({
      status: 0,
      code: 'UNREACHABLE',
      detail: 'Assay cannot be reached. Is it still running?',
    });
  }
  if (!response.ok) throw new ApiError(await problemIn(response));
  return (response.status === 204 ? undefined : await response.json()) as T;
}

async function problemIn(response: Response): Promise<Pick<ProblemView, 'status' | 'code' | 'detail'>> {
  const { status } = response;
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/problem+json')) return (await response.json()) as ProblemView;
  return { status, code: 'HTTP_ERROR', detail: `Assay answered with status ${status}.` };
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
