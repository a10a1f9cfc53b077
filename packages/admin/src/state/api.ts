import type { FieldProblem, Problem } from '../../../gateway/src/api/problem.ts';

type ReadProblem = Pick<Problem, 'status' | 'code' | 'detail' | 'errors'>;

/** A request that was refused, with the problem that the server described. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: readonly FieldProblem[];

  constructor({ status, code, detail, errors = [] }: ReadProblem) {
    super(detail);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.fields = errors;
  }
}

type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** GET as JSON. */
export async function read<T>(path: string, signal?: AbortSignal): Promise<T> {
  return bodyOf<T>(await ask(path, { signal: signal ?? null }));
}

/** A representation and its ETag, which a write sends back so that it changes only what was seen. */
export interface Tagged<T> {
  readonly value: T;
  readonly etag: string;
}

export async function readTagged<T>(path: string, signal?: AbortSignal): Promise<Tagged<T>> {
  const response = await ask(path, { signal: signal ?? null });
  return { value: await bodyOf<T>(response), etag: response.headers.get('etag') ?? '' };
}

/** A request that changes something. Undefined if the response has no body. */
export async function write<T>(method: WriteMethod, path: string, body?: unknown, etag?: string): Promise<T> {
  const headers = {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(etag !== undefined && { 'if-match': etag }),
  };
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  return bodyOf<T>(await ask(path, { method, headers, ...json }));
}

/** A POST whose answer is a stream. */
export function post(path: string, body: unknown, signal: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return ask(path, { method: 'POST', headers, body: JSON.stringify(body), signal });
}

async function bodyOf<T>(response: Response): Promise<T> {
  return (response.status === 204 ? undefined : await response.json()) as T;
}

async function ask(path: string, init: RequestInit): Promise<Response> {
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
  return response;
}

/** Status of a write that was refused because the ETag it was sent with is outdated. */
const CHANGED_MEANWHILE = 412;

async function problemIn(response: Response): Promise<ReadProblem> {
  const { status } = response;
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/problem+json')) {
    const problem = (await response.json()) as Problem;
    return status === CHANGED_MEANWHILE
      ? {
          ...problem,
          detail: 'Someone else has changed this since you opened it. Check the current state and try again.',
        }
      : problem;
  }
  return { status, code: 'HTTP_ERROR', detail: `Assay responded with status ${status}.` };
}

export function formatError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The error of a field of the sent body, by the first step of its pointer. */
export function findFieldError(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (isTakenName(error)) return field === 'name' ? error.message : undefined;
  return error.fields.find(({ pointer }) => pointer?.split('/')[1] === field)?.detail;
}

/** Whether all errors are shown at these fields. */
export function isToldAt(error: unknown, fields: readonly string[]): boolean {
  if (!(error instanceof ApiError)) return false;
  if (isTakenName(error)) return fields.includes('name');
  if (error.fields.length === 0) return false;
  return error.fields.every(({ pointer }) => fields.includes(pointer?.split('/')[1] ?? ''));
}

/** GATEWAY_EXISTS, TOOLSET_EXISTS, TOOL_EXISTS. */
function isTakenName({ code, fields }: ApiError): boolean {
  return code.endsWith('_EXISTS') && fields.length === 0;
}
