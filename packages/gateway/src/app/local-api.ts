import type { RunningServe } from '../adapters/store/running-serve.ts';
import type { AppOptions } from '../core/command-options.ts';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { CodedProblem } from '../api/problem.ts';
import type { ApiRequest } from '../edges/cli/api.ts';
import { toProblem } from '../edges/rest/failure.ts';
import type { Route } from '../edges/rest/route.ts';
import type { ApiAnswer } from './answer-request.ts';
import { hasHomeStore, openInEnvironment } from './environment.ts';
import { findGroup, type LocalParts } from './route-groups.ts';

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
    openInEnvironment({ ...options, isQuiet: true, transport: 'pipe' }, async (opened) => {
      // The routes are loaded while its thread starts.
      if (hasHomeStore(opened)) await opened.store.start();
      return ok(opened);
    }),
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
      await environment.get();
      const opening = groups.get(group) ?? group?.open(parts) ?? Promise.resolve(ok([]));
      groups.set(group, opening);
      const [{ answerRequest }, routes] = await Promise.all([import('./answer-request.ts'), opening]);
      if (!routes.ok) return err(toProblem(routes.error, path));
      return answerRequest(routes.value, request, onText);
    },
    close: async () => {
      const opened = await environment.opened();
      if (opened?.ok === true) await opened.value.cleanup.close();
    },
  };
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
