import * as z from 'zod';
import { CALL, type Call, CALL_PAGE } from '../../api/call.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { EFFECTS } from '../../core/policy/policy.ts';
import { formatRefusal } from '../../core/sentences.ts';
import { allows, type Identity } from '../../core/subject.ts';
import {
  findCall,
  streamCalls,
  listRecentCalls,
  verifyCalls,
} from '../../gateway/services/activity/call-history.ts';
import type { CallQuery, CallStore } from '../../gateway/ports/call-log.ts';
import type { AdminDeps } from './admin-deps.ts';
import { countsRoute } from './call-counts.ts';
import { encodeCursor, readCursor } from './paging.ts';
import { toListReply, route, type Route } from './route.ts';

const TIME = z.iso.datetime({ offset: true }).optional();
const FILTERS = z.object({
  subject: z.string().optional(),
  server: z.string().optional(),
  tool: z.string().optional().meta({ description: 'Namespaced name, or the name of an unknown tool.' }),
  decision: z.enum(EFFECTS).optional(),
  outcome: z.string().optional(),
  since: TIME,
  until: TIME,
});

const EXAMPLE: Call = {
  id: 17,
  kind: 'call',
  at: '2026-11-23T20:15:04.120Z',
  subject: 'ci',
  client: { name: 'claude-code', version: '2.1.0' },
  endpoint: 'all',
  tool: {
    id: 'tool_5c',
    publicName: 'files_read',
    namespacedName: 'files.read',
    server: 'files',
    digest: 'ab',
  },
  decision: {
    kind: 'allow',
    reasons: [
      { code: 'default_confirm', confirm: 'never', text: 'Calls are not confirmed, as the settings say.' },
    ],
  },
  outcome: 'ok',
  durationMs: 3.4,
  batch: { chain: '9b2f', number: 12, hash: '07' },
};

const ID = /^\d{1,15}$/;

/** The record of calls. Arguments are shown only to the `admin` scope. */
export function callRoutes({ store, nowMs }: Pick<AdminDeps, 'store' | 'nowMs'>): readonly Route[] {
  return [
    listRoute(store),
    exportRoute(store),
    countsRoute(store, nowMs),
    verificationRoute(store),
    oneRoute(store),
  ];
}

function listRoute(store: CallStore): Route {
  return route(
    {
      method: 'get',
      path: '/activity/calls',
      id: 'listCalls',
      summary: 'List recorded tool calls and the decision on each, newest first',
      isPaged: true,
      query: FILTERS,
      answer: {
        about: 'A page of calls.',
        schema: CALL_PAGE,
        example: { calls: [EXAMPLE] },
      },
    },
    async ({ page: { limit, cursor }, query, identity }) => {
      const text = cursor === undefined ? undefined : readCursor(cursor);
      if (cursor !== undefined && (text === undefined || !ID.test(text)))
        return err({ code: 'CURSOR_INVALID' });
      const before = text === undefined ? undefined : Number(text);
      const found = await listRecentCalls(store, { ...filtersOf(query), before, limit });
      if (!found.ok) return found;
      const { calls, next } = found.value;
      const items = calls.map((call) => shownTo(identity, call));
      return ok(
        toListReply('calls', {
          items,
          nextCursor: next === undefined ? undefined : encodeCursor(String(next)),
        }),
      );
    },
  );
}

function oneRoute(store: CallStore): Route {
  return route(
    {
      method: 'get',
      path: '/activity/calls/{id}',
      id: 'getCall',
      summary: 'Get a recorded call',
      answer: { about: 'The call.', schema: CALL, example: EXAMPLE },
      refusals: ['CALL_UNKNOWN'],
    },
    async ({ param, identity }) => {
      const id = param('id');
      const found = ID.test(id)
        ? await findCall(store, Number(id))
        : err({ code: 'CALL_UNKNOWN', id } as const);
      return found.ok ? ok({ kind: 'one', body: shownTo(identity, found.value) }) : found;
    },
  );
}

function verificationRoute(store: CallStore): Route {
  return route(
    {
      method: 'get',
      path: '/activity/calls/verification',
      id: 'verifyCalls',
      summary: 'Check that no recorded call was changed, removed or inserted',
      about: 'Reads all recorded calls and checks their hash chains.',
      scope: 'admin',
      answer: {
        about: 'What was checked, and the first faults.',
        schema: z
          .object({
            entries: z.int(),
            batches: z.int().meta({ description: 'Entries that were written and hashed together.' }),
            chains: z.int().meta({ description: 'One for each process that recorded calls.' }),
            dropped: z.int().meta({ description: 'Calls that could not be recorded at the time.' }),
            faults: z.array(z.looseObject({ code: z.string() })),
            faultCount: z.int(),
          })
          .meta({ id: 'CallVerification' }),
        example: { entries: 120, batches: 9, chains: 2, dropped: 0, faults: [], faultCount: 0 },
      },
    },
    async () => {
      const verified = await verifyCalls(store);
      return verified.ok ? ok({ kind: 'list', body: verified.value }) : verified;
    },
  );
}

function exportRoute(store: CallStore): Route {
  return route(
    {
      method: 'get',
      path: '/activity/calls/export',
      id: 'exportCalls',
      summary: 'Export recorded calls as JSON Lines, oldest first',
      about:
        'Without a filter, the line of each batch comes before its calls, so that anyone can recompute its hash (see `assay docs activity`).',
      scope: 'admin',
      query: FILTERS,
      answer: {
        about: 'One JSON object per line.',
        schema: z.string(),
        example:
          '{"chain":"9b2f","count":1,"first":17,"hash":"07…","kind":"batch","number":12,"previous":"5e…"}\n{"id":17,"entry":{…}}\n',
        type: 'application/x-ndjson',
      },
    },
    ({ query, signal }) => {
      const body = ReadableStream.from(linesOf(store, filtersOf(query), signal));
      return ok({ kind: 'stream', body, type: 'application/x-ndjson' });
    },
  );
}

/** Ends with an error if the store fails, so that an incomplete export is not taken for a complete one. */
async function* linesOf(
  store: CallStore,
  filters: ReturnType<typeof filtersOf>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const lines of streamCalls(store, filters)) {
    if (!lines.ok) throw new Error(formatRefusal(lines.error));
    if (signal.aborted) return;
    yield encoder.encode(lines.value);
  }
}

function filtersOf({
  since,
  until,
  ...facts
}: z.output<typeof FILTERS>): Omit<CallQuery, 'before' | 'after' | 'limit'> {
  return {
    ...facts,
    sinceMs: since === undefined ? undefined : Date.parse(since),
    untilMs: until === undefined ? undefined : Date.parse(until),
  };
}

function shownTo(identity: Identity, call: Call): unknown {
  return allows(identity, 'admin') ? call : { ...call, arguments: undefined };
}
