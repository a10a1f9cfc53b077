import * as z from 'zod';
import type { VerificationResult } from '../../api/verification.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { allows } from '../../core/subject.ts';
import type { AdminDeps } from './admin-deps.ts';
import { toProblem } from './failure.ts';
import { type RestCall, route, type Route } from './route.ts';
import { runStream, type SentEvent } from './run-stream.ts';
import { watchHolder } from './while-held.ts';

const VERIFY_QUERY = z.object({
  recorded: z.enum(['true', 'false']).optional().meta({
    description:
      'Whether to call tools also with the arguments of successful recorded calls, with secrets masked. The setting `activity.arguments` controls whether arguments are recorded.',
    example: 'true',
  }),
});

const EXAMPLE =
  'event: progress\ndata: {"done":1,"total":2,"tool":"read_file"}\n\nevent: result\ndata: {"server":"files","tools":2,"toolsWithSuccess":2,"calls":30,"mechanisms":["overlay"],"contradictions":[]}\n\n';

/** Verifies the hints of a gateway's tools in a sandbox. */
export function verifyGatewayRoutes(deps: AdminDeps): readonly Route[] {
  const { verifications } = deps;
  return [
    route(
      {
        method: 'post',
        path: '/gateways/{id}/verify',
        id: 'verifyGateway',
        summary: 'Verify the tools of a gateway in a sandbox',
        about:
          'Calls the tools and records their effects, like `assay verify SERVER`, with the fixtures file in the server’s folder if there is one. Only a gateway that Assay starts by a command can be verified, one at a time. Server-sent events: `progress` after each tool; the last event is `result` with the contradictions, or `refused` with a problem document. Closing the connection cancels the verification and discards its observations. Also requires the scope `execute`, as it starts a process and calls tools. The observations are in `verification` of each tool.',
        query: VERIFY_QUERY,
        answer: {
          about: 'A stream of events.',
          schema: z.string(),
          example: EXAMPLE,
          type: 'text/event-stream',
        },
        refusals: [
          'SERVER_UNKNOWN',
          'SERVER_UNAVAILABLE',
          'VERIFICATION_UNSUPPORTED',
          'VERIFICATION_RUNNING',
        ],
      },
      (call) => {
        if (!allows(call.identity, 'execute')) return err({ code: 'SCOPE_MISSING', scope: 'execute' });
        const { running } = verifications;
        const found = verifications.server(call.param('id'));
        if (!found.ok) return found;
        if (running !== undefined) return err({ code: 'VERIFICATION_RUNNING', server: running });
        return ok({
          kind: 'stream',
          body: startVerification(deps, call, call.query.recorded === 'true'),
          type: 'text/event-stream',
        });
      },
    ),
  ];
}

function startVerification(
  deps: AdminDeps,
  { param, identity, signal }: Pick<RestCall<unknown, unknown>, 'param' | 'identity' | 'signal'>,
  isRecorded: boolean,
): ReadableStream<Uint8Array> {
  const cancellation = new AbortController();
  const cancel = (): void => cancellation.abort();
  const stream = runStream(cancel);
  const done = watchHolder(deps, { identity, signal, cancel });
  const verification = deps.verifications.verify(param('id'), {
    author: identity.subject,
    isRecorded,
    signal: cancellation.signal,
    onProgress: (progress) => stream.note({ name: 'progress', data: progress }),
  });
  const failed = (error: unknown): Result<never, Refusal> => {
    deps.log.error('a verification failed inside Assay', { error: String(error) });
    return err({ code: 'INTERNAL' });
  };
  void verification.catch(failed).then((verified) => {
    done();
    stream.end(endEvent(verified));
  });
  return stream.body;
}

function endEvent(verified: Result<VerificationResult, Refusal>): SentEvent {
  if (verified.ok) return { name: 'result', data: verified.value };
  const { title, status, detail, code } = toProblem(verified.error, '');
  return { name: 'refused', data: { title, status, detail, code } };
}
