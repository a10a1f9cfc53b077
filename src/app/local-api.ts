import type { RunningServe } from '../adapters/store/running-serve.ts';
import type { AppOptions } from '../core/command-options.ts';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '../core/result.ts';
import { LOCAL_OPERATOR } from '../core/subject.ts';
import type { CodedProblem } from '../api/problem.ts';
import type { ApiRequest } from '../edges/cli/api.ts';
import { computeEtag, replyTo } from '../edges/rest/answer-route.ts';
import { toProblem } from '../edges/rest/failure.ts';
import type { Reply, Route } from '../edges/rest/route.ts';
import { openInEnvironment } from './environment.ts';
import { findGroup, type LocalParts } from './route-groups.ts';

export interface ApiAnswer {
  readonly body: unknown;
  readonly etag: string | undefined;
}

/** Answers requests in the process of a command, with the routes of the REST API. */
export interface LocalApi {
  send(
    request: ApiRequest,
    onText?: (text: string) => Promise<void>,
  ): Promise<Result<ApiAnswer, CodedProblem>>;
  close(): Promise<void>;
}

/** `serve`: the running gateway of this home, which is not used. */
export function openLocalApi(options: AppOptions, serve: RunningServe | undefined): LocalApi {
  const environment = once(() =>
    openInEnvironment({ ...options, isQuiet: true, transport: 'pipe' }, (opened) =>
      Promise.resolve(ok(opened)),
    ),
  );
  const opening = new Map<string, ReturnType<LocalParts['services']>>();
  const services: LocalParts['services'] = async (needs) => {
    const opened = await environment.get();
    if (!opened.ok) return opened;
    const { openServices } = await import('./services.ts');
    return openServices(opened.value, needs);
  };
  const toolsets = once(async () => {
    const opened = await environment.get();
    if (!opened.ok) return opened;
    const { openLocalToolsets } = await import('./local-toolsets.ts');
    return openLocalToolsets(opened.value);
  });
  const parts: LocalParts = {
    store: async () => {
      const opened = await environment.get();
      return opened.ok ? opened.value.store.open() : opened;
    },
    toolsets: () => toolsets.get(),
    services: (needs) => {
      const key = JSON.stringify(needs);
      const known = opening.get(key) ?? services(needs);
      opening.set(key, known);
      return known;
    },
    serveUrl: serve?.url,
  };
  const groups = new Map<ReturnType<typeof findGroup>, Promise<Result<readonly Route[], Refusal>>>();
  return {
    send: async (request, onText) => {
      const { path } = request;
      const group = findGroup(path);
      if (group === undefined) return err(toProblem(NO_GATEWAY, path));
      const opening = groups.get(group) ?? group.open(parts);
      groups.set(group, opening);
      const routes = await opening;
      if (!routes.ok) return err(toProblem(routes.error, path));
      return answerRequest(routes.value, request, onText);
    },
    close: async () => {
      const opened = await environment.opened();
      if (opened?.ok === true) await opened.value.cleanup.close();
    },
  };
}

const NO_GATEWAY: Refusal = {
  code: 'SERVER_UNREACHED',
  server: 'assay serve',
  cause: { code: 'CONNECTION_REFUSED' },
};

/** Answers with the route that fits. SERVER_UNREACHED: only a running gateway can answer. */
export async function answerRequest(
  routes: readonly Route[],
  { method, path, query, body, ifMatch }: ApiRequest,
  onText?: (text: string) => Promise<void>,
): Promise<Result<ApiAnswer, CodedProblem>> {
  const steps = path.split('/');
  const route = routes.find(({ spec }) => spec.method.toUpperCase() === method && isAt(spec.path, steps));
  if (route === undefined) return err(toProblem(NO_GATEWAY, path));
  const names = route.spec.path.split('/');
  const replied = await replyTo(route, {
    identity: LOCAL_OPERATOR,
    param: (name) => decodeURIComponent(steps[names.indexOf(`{${name}}`)] ?? ''),
    query: new URLSearchParams(query),
    readBody: () => Promise.resolve(ok(copyAsJson(body))),
    header: (name) => (name === 'if-match' ? ifMatch : undefined),
    signal: new AbortController().signal,
    isHead: false,
  });
  return replied.ok ? toAnswer(replied.value, onText) : err(toProblem(replied.error, path));
}

function isAt(pattern: string, steps: readonly string[]): boolean {
  const names = pattern.split('/');
  return (
    names.length === steps.length && names.every((name, at) => name === steps[at] || name.startsWith('{'))
  );
}

async function toAnswer(
  reply: Reply,
  onText: (text: string) => Promise<void> = () => Promise.resolve(),
): Promise<Result<ApiAnswer, CodedProblem>> {
  if (reply.kind === 'one')
    return ok({ body: copyAsJson(reply.body), etag: computeEtag(reply.of ?? reply.body) });
  if (reply.kind === 'list') return ok({ body: copyAsJson(reply.body), etag: undefined });
  const decoder = new TextDecoder();
  if (reply.kind === 'stream')
    for await (const chunk of reply.body) await onText(decoder.decode(chunk, { stream: true }));
  return ok({ body: undefined, etag: undefined });
}

/** The value as it would arrive over HTTP. */
function copyAsJson(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}

interface Once<T> {
  get(): Promise<T>;
  /** Resolves to undefined if it was never opened. */
  opened(): Promise<T | undefined>;
}

function once<T>(open: () => Promise<T>): Once<T> {
  let opening: Promise<T> | undefined;
  return { get: () => (opening ??= open()), opened: () => opening ?? Promise.resolve(undefined) };
}
