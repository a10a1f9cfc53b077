import { EXIT } from '../../core/errors.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { AppOptions } from '../../core/command-options.ts';
import type { CodedProblem } from '../../api/problem.ts';
import type { Api, ApiRequest } from './api.ts';
import { printError, printJson } from '@assay-mcp/kit/platform/terminal/print';
import { printFailure, printRefusal } from './output.ts';
import type { Runtime } from './runtime.ts';
import type { JsonOptions } from './common-options.ts';

/** Works with the REST API. Prints refusals and refused requests; resolves with the exit code. */
export function withApi(
  runtime: Runtime,
  options: AppOptions,
  work: (api: Api) => Promise<Result<unknown, CodedProblem | Refusal>>,
): Promise<number> {
  return withApiExit(runtime, options, async (api) => {
    const done = await work(api);
    return done.ok ? ok(EXIT.done) : done;
  });
}

/** Like `withApi`, for work with an exit code of its own. */
export async function withApiExit(
  runtime: Runtime,
  options: AppOptions,
  work: (api: Api) => Promise<Result<number, CodedProblem | Refusal>>,
): Promise<number> {
  const api = await runtime.openApi(options, printError);
  try {
    const done = await work(api);
    return done.ok ? done.value : printFailure(done.error);
  } finally {
    await api.close();
  }
}

/** Opens something, works with it and closes it. Prints refusals; resolves with the exit code. */
export async function withOpened<T extends { readonly close: () => Promise<void> }>(
  opening: Promise<Result<T, Refusal>>,
  work: (opened: T) => Promise<Result<unknown, Refusal>>,
): Promise<number> {
  const opened = await opening;
  if (!opened.ok) return printRefusal(opened.error);
  try {
    const done = await work(opened.value);
    return done.ok ? EXIT.done : printRefusal(done.error);
  } finally {
    await opened.value.close();
  }
}

/** How a command shows what a request returned. */
interface Printer<T> {
  /** Without --json. */
  readonly say: (value: T) => void;
  /** Writes to stderr, also with --json. */
  readonly note?: (value: T) => void;
}

/** Sends one request and prints what it returned. Resolves with the exit code. */
export function sendAndPrint<T>(
  runtime: Runtime,
  options: JsonOptions,
  request: ApiRequest,
  { say, note }: Printer<T>,
): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const sent = await api.send<T>(request);
    if (!sent.ok) return sent;
    if (options.json === true) printJson(sent.value);
    else say(sent.value);
    note?.(sent.value);
    return sent;
  });
}

/** Encodes the values as path segments: apiPath`/tokens/${id}`. */
export function apiPath(texts: TemplateStringsArray, ...values: readonly string[]): string {
  return texts.reduce((path, text, at) => path + encodeURIComponent(values[at - 1] ?? '') + text);
}

/** The path of a tool, by public name, namespaced name or id. TOOL_UNKNOWN: in a URL, the name would lead elsewhere. */
export function toToolPath(name: string): Result<string, Refusal> {
  return /^\.{0,2}$/.test(name) ? err({ code: 'TOOL_UNKNOWN', name }) : ok(apiPath`/tools/${name}`);
}

/** The largest page of the REST API. */
const PAGE_SIZE = 1_000;

interface ListOptions {
  /** The member that holds the items. */
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Maximum number of items. */
  readonly limit?: number;
}

/** The items of a paged list, all by default. */
export async function listAll<T>(
  api: Api,
  path: string,
  { name, query = {}, limit = Infinity }: ListOptions,
): Promise<Result<readonly T[], CodedProblem>> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.send<Readonly<Record<string, unknown>>>({
      method: 'GET',
      path,
      query: {
        ...query,
        limit: String(Math.min(PAGE_SIZE, limit - items.length)),
        ...(cursor !== undefined && { cursor }),
      },
    });
    if (!page.ok) return page;
    items.push(...(page.value[name] as readonly T[])); // as the documentation says
    cursor = page.value['nextCursor'] as string | undefined;
  } while (cursor !== undefined && items.length < limit);
  return ok(items);
}
