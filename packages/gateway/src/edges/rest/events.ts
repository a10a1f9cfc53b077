import * as z from 'zod';
import { err, ok } from '@assay-mcp/kit/result';
import type { AdminDeps } from './admin-deps.ts';
import { AuditReader } from './audit-reader.ts';
import { createEventStream } from './event-stream.ts';
import { route, type Route } from './route.ts';

/** Streams that one subject may have open. */
const MAX_STREAMS = 16;

const ID = /^\d{1,15}$/;

const QUERY = z.object({
  lastEventId: z
    .string()
    .regex(ID, { error: 'it must be the id of an event' })
    .optional()
    .meta({ description: 'Alternative to the header Last-Event-ID, for clients that cannot set it.' }),
});

const EXAMPLE =
  'event: activity\nid: 17\ndata: {"id":17,"action":"toolset.create",…}\n\nevent: tools\ndata: {}\n\n';

export function eventRoutes(deps: AdminDeps): readonly Route[] {
  const { store, gate, catalog, ending, nowMs } = deps;
  const audit = new AuditReader(store);
  store.onChange((parts) => (parts.includes('audit') ? audit.invalidate() : undefined));
  const streams = new StreamCounts(MAX_STREAMS);
  const stream = route(
    {
      method: 'get',
      path: '/events',
      id: 'streamEvents',
      summary: 'Stream events',
      about:
        'Server-sent events: `activity` for each audit event, in the format of /activity; `tools` when the list of tools changes; `approvals` when an approval is requested or answered; and `calls` when calls are recorded, at most twice a second. A client that reconnects with `Last-Event-ID` misses no audit event. The stream ends when its token becomes invalid. A subject may have 16 of them open at a time.',
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
      // The stream of a HEAD request is never read, so its end is not seen.
      const release = call.isHead ? () => undefined : streams.take(call.identity.subject);
      if (release === undefined) return err({ code: 'EVENT_STREAM_LIMIT', limit: MAX_STREAMS });
      const over = AbortSignal.any([ending, call.signal]);
      over.addEventListener('abort', release);
      const body = createEventStream(newest.value[0]?.id ?? 0, {
        audit,
        onAudit: (listener) => store.onChange((parts) => (parts.includes('audit') ? listener() : undefined)),
        onApprovals: (listener) =>
          store.onChange((parts) => (parts.includes('approvals') ? listener() : undefined)),
        onTools: (listener) =>
          catalog.all.onChange((kinds) => (kinds.includes('tools') ? listener() : undefined)),
        onCalls: (listener) => store.onChange((parts) => (parts.includes('calls') ? listener() : undefined)),
        onEnd: release,
        identity: call.identity,
        isHolder: () => gate.isHolder(call.identity, 'read', nowMs()),
        ending: over,
      });
      return ok({ kind: 'stream', body, type: 'text/event-stream' });
    },
  );
  return [stream];
}

/** Open streams by subject. */
class StreamCounts {
  readonly #limit: number;
  readonly #open = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns a function to call when the stream is over, more than once if need be. Undefined if there are too many. */
  take(subject: string): (() => void) | undefined {
    const open = this.#open.get(subject) ?? 0;
    if (open >= this.#limit) return undefined;
    this.#open.set(subject, open + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = (this.#open.get(subject) ?? 1) - 1;
      if (left === 0) this.#open.delete(subject);
      else this.#open.set(subject, left);
    };
  }
}
