import { z } from '@hono/zod-openapi';
import { err, ok } from '../../core/result.ts';
import type { AdminDeps } from './admin-deps.ts';
import { eventStream } from './event-stream.ts';
import { route, type Route } from './route.ts';

const ID = /^\d{1,15}$/;

const QUERY = z.object({
  lastEventId: z
    .string()
    .regex(ID, { error: 'it must be the id of an event' })
    .optional()
    .openapi({ description: 'Alternative to the header Last-Event-ID, for clients that cannot set it.' }),
});

const EXAMPLE =
  'event: activity\nid: 17\ndata: {"id":17,"action":"toolset.create",…}\n\nevent: tools\ndata: {}\n\n';

export function eventRoutes(deps: AdminDeps): readonly Route[] {
  const { store, gate, catalog, ending, nowMs } = deps;
  const stream = route(
    {
      method: 'get',
      path: '/events',
      id: 'streamEvents',
      summary: 'Stream events',
      about:
        'Server-sent events: `activity` for each audit event, in the format of /activity; `tools` when the list of tools changes; `approvals` when an approval is requested or answered; and `calls` when calls are recorded, at most twice a second. A client that reconnects with `Last-Event-ID` misses no audit event. The stream ends when its token becomes invalid.',
      query: QUERY,
      answer: {
        about: 'A stream of events.',
        schema: z.string(),
        example: EXAMPLE,
        type: 'text/event-stream',
      },
    },
    async (call) => {
      const header = call.header('last-event-id');
      if (header !== undefined && !ID.test(header)) {
        const reason = 'it must be the id of an event';
        return err({
          code: 'QUERY_INVALID',
          fieldErrors: [{ at: 'Last-Event-ID', kind: 'invalid', reason }],
        });
      }
      const given = header ?? call.query.lastEventId;
      const newest =
        given === undefined ? await store.auditEvents({ limit: 1 }) : ok([{ id: Number(given) }]);
      if (!newest.ok) return newest;
      const body = eventStream(newest.value[0]?.id ?? 0, {
        store,
        onAudit: (listener) => store.onChange((parts) => (parts.includes('audit') ? listener() : undefined)),
        onApprovals: (listener) =>
          store.onChange((parts) => (parts.includes('approvals') ? listener() : undefined)),
        onTools: (listener) =>
          catalog.all.onChange((kinds) => (kinds.includes('tools') ? listener() : undefined)),
        onCalls: (listener) => store.onChange((parts) => (parts.includes('calls') ? listener() : undefined)),
        identity: call.identity,
        isHolder: () => gate.isHolder(call.identity, 'read', nowMs()),
        ending: AbortSignal.any([ending, call.signal]),
      });
      return ok({ kind: 'stream', body, type: 'text/event-stream' });
    },
  );
  return [stream];
}
