import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { LOCAL_OPERATOR } from '../core/subject.ts';
import type { CodedProblem } from '../api/problem.ts';
import type { ApiRequest } from '../edges/cli/api.ts';
import { computeEtag, replyTo } from '../edges/rest/answer-route.ts';
import { toProblem } from '../edges/rest/failure.ts';
import type { Reply, Route } from '../edges/rest/route.ts';

export interface ApiAnswer {
  readonly body: unknown;
  readonly etag: string | undefined;
}

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

const NO_GATEWAY: Refusal = {
  code: 'SERVER_UNREACHED',
  server: 'assay serve',
  cause: { code: 'CONNECTION_REFUSED' },
};
