import * as z from 'zod';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { ok } from '@assay-mcp/kit/result';
import type { Identity } from '../../core/subject.ts';
import type { OwnAnswer } from '../../gateway/relay/own-call.ts';
import { runTool } from '../../gateway/services/tools/run-tool.ts';
import type { AdminDeps } from './admin-deps.ts';
import { toProblem } from './failure.ts';
import { route, type Route } from './route.ts';
import { runStream, type SentEvent } from './run-stream.ts';
import { watchHolder } from './while-held.ts';

const RUN_INPUT = z
  .object({
    arguments: z
      .record(z.string(), z.unknown())
      .default({})
      .meta({ description: 'The `arguments` of `tools/call`.' }),
  })
  .meta({ id: 'RunInput' });

const EXAMPLE =
  'event: progress\ndata: {"progress":1,"total":2}\n\nevent: result\ndata: {"content":[{"type":"text","text":"done"}]}\n\n';

/** Runs tools for operators, as the Run page does. */
export function runRoutes(deps: AdminDeps): readonly Route[] {
  return [
    route(
      {
        method: 'post',
        path: '/tools/{id}/run',
        id: 'runTool',
        summary: 'Call a tool',
        about:
          'The call is made under your own name, and policy, approvals, limits and the record apply as for a call at `/mcp/all`. Server-sent events: `progress` and `log` with the server’s messages, `approval` when the call waits for an approval, and `dropped` with the number of messages that a slow reader missed. The last event is `result` with the result of `tools/call`, `error` with the server’s JSON-RPC error, or `refused` with a problem document. Closing the connection cancels the call. On the admin pages, the approval flow always applies.',
        body: {
          schema: RUN_INPUT,
          examples: { echo: { arguments: { message: 'hello' } } },
        },
        answer: {
          about: 'A stream of events.',
          schema: z.string(),
          example: EXAMPLE,
          type: 'text/event-stream',
        },
        refusals: ['TOOL_UNKNOWN'],
      },
      async ({ param, body, identity, signal }) => {
        const found = await deps.tools.find(param('id'));
        if (!found.ok) return found;
        const { name } = found.value;
        const stream = startRun(deps, { name, args: body.arguments, identity, signal });
        return ok({ kind: 'stream', body: stream, type: 'text/event-stream' });
      },
    ),
  ];
}

interface Run {
  /** The public name. */
  readonly name: string;
  readonly args: JsonObject;
  readonly identity: Identity;
  readonly signal: AbortSignal;
}

/** The run ends when its reader disconnects, its credential ends or the process stops. */
function startRun(
  { catalog, relay, log, ...held }: AdminDeps,
  { name, args, identity, signal }: Run,
): ReadableStream<Uint8Array> {
  const cancellation = new Cancellation();
  const cancel = (): void => cancellation.cancel('the run was cancelled');
  const stream = runStream(cancel);
  const done = watchHolder(held, { identity, signal, cancel });
  const run = runTool(
    { relay, view: catalog.all },
    {
      ...{ name, args, identity, cancellation, nowMs: Date.now },
      onNotification: (note) => {
        const event = noteEvent(note);
        if (event !== undefined) stream.note(event);
      },
      onWaiting: (data) => stream.send({ name: 'approval', data }),
    },
  );
  const failed = (error: unknown): OwnAnswer => {
    log.error('a run failed inside Assay', { error: String(error) });
    return { kind: 'refused', refusal: { code: 'INTERNAL' } };
  };
  void run.catch(failed).then((answer) => {
    done();
    stream.end(endEvent(answer));
  });
  return stream.body;
}

function noteEvent({ method, params }: JsonObject): SentEvent | undefined {
  const data = isJsonObject(params) ? params : {};
  if (method === 'notifications/progress') {
    const { progress, total, message } = data;
    return { name: 'progress', data: { progress, total, message } };
  }
  if (method !== 'notifications/message') return undefined;
  const { level, logger, data: logged } = data;
  return { name: 'log', data: { level, logger, data: logged } };
}

function endEvent(answer: OwnAnswer): SentEvent {
  if (answer.kind === 'result') return { name: 'result', data: answer.result };
  if (answer.kind === 'error') return { name: 'error', data: answer.error };
  const { title, status, detail, code } = toProblem(answer.refusal, '');
  return { name: 'refused', data: { title, status, detail, code } };
}
