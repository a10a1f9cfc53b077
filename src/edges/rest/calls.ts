import { z } from '@hono/zod-openapi';
import { HINTS } from '../../core/hints/hint.ts';
import { err, ok } from '../../core/result.ts';
import { ASKED_PER } from '../../core/policy/policy.ts';
import { sentenceOf } from '../../core/sentences.ts';
import { allows, type Identity } from '../../core/subject.ts';
import {
  callById,
  type CallView,
  exportedCalls,
  recentCalls,
  verifyCalls,
} from '../../gateway/services/activity/call-history.ts';
import type { CallQuery, CallStore } from '../../gateway/ports/call-log.ts';
import type { AdminDeps } from './admin-deps.ts';
import { countsRoute } from './call-counts.ts';
import { cursorOf, readCursor } from './paging.ts';
import { listReply, listSchema, route, type Route } from './route.ts';

const EFFECT = z.enum(['allow', 'ask', 'refuse']);
const HINT = z.object({ value: z.boolean(), reason: z.string() });

const CALL = z
  .object({
    id: z.int().openapi({ description: 'Increases by one with each entry.' }),
    kind: z.enum(['call', 'dropped', 'unreadable']).openapi({
      description:
        '`dropped`: `count` calls since `since` could not be recorded; the entry has no other members. `unreadable`: somebody changed the entry so that it cannot be read; it has only `id` and `chain`.',
    }),
    at: z.iso
      .datetime()
      .optional()
      .openapi({ description: 'When the call ended. Absent if the entry is `unreadable`.' }),
    subject: z.string().optional().openapi({ description: 'The name of the token, or `local` without one.' }),
    session: z.string().optional().openapi({ description: 'The same for all calls of one session.' }),
    client: z.object({ name: z.string().optional(), version: z.string().optional() }).optional(),
    endpoint: z.string().optional(),
    toolset: z.string().optional(),
    labels: z.array(z.string()).optional(),
    tool: z
      .object({
        id: z.string().optional(),
        publicName: z.string(),
        namespacedName: z.string().optional(),
        server: z.string().optional(),
        digest: z.string().optional(),
        confirm: z.string().optional(),
      })
      .optional(),
    hints: z
      .object({ [HINTS[0] ?? '']: HINT })
      .catchall(HINT)
      .optional()
      .openapi({
        description: 'The hints at the time of the decision, each with the code of the deciding claim.',
      }),
    decision: z
      .object({
        kind: EFFECT,
        per: z.enum(ASKED_PER).optional(),
        reasons: z.array(z.looseObject({ code: z.string(), text: z.string() })),
      })
      .optional(),
    isAsked: z.literal(false).optional().openapi({
      description:
        'Present if `decision` is `ask` and Assay did not ask, because `approvals` is `client`: `decision` says what it would have asked about.',
    }),
    approval: z.looseObject({ id: z.string(), by: z.string(), scope: z.string() }).optional(),
    outcome: z.string().optional().openapi({
      description: '`ok`, `tool_error`, `error`, `input_required`, or the code of a refusal.',
    }),
    durationMs: z.number().optional(),
    arguments: z
      .object({
        bytes: z.int(),
        form: z.enum(['masked', 'full']),
        isShortened: z.boolean(),
        text: z.string(),
      })
      .optional()
      .openapi({
        description:
          'Present if the setting `activity.arguments` enables it and the token has the scope `admin`.',
      }),
    count: z.int().optional(),
    since: z.iso.datetime().optional(),
    chain: z.object({ id: z.string(), seq: z.int(), previous: z.string(), hash: z.string() }),
  })
  .openapi('RecordedCall');

const TIME = z.iso.datetime({ offset: true }).optional();
const FILTERS = z.object({
  subject: z.string().optional(),
  server: z.string().optional(),
  tool: z.string().optional().openapi({ description: 'Namespaced name, or the name of an unknown tool.' }),
  decision: EFFECT.optional(),
  outcome: z.string().optional(),
  since: TIME,
  until: TIME,
});

const EXAMPLE = {
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
    reasons: [{ code: 'default_confirm', confirm: 'never', text: '"policy.confirm" is "never"' }],
  },
  outcome: 'ok',
  durationMs: 3.4,
  chain: { id: '9b2f', seq: 12, previous: '5e', hash: '07' },
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
        schema: listSchema('calls', CALL),
        example: { calls: [EXAMPLE] },
      },
    },
    async ({ page: { limit, cursor }, query, identity }) => {
      const text = cursor === undefined ? undefined : readCursor(cursor);
      if (cursor !== undefined && (text === undefined || !ID.test(text)))
        return err({ code: 'CURSOR_INVALID' });
      const before = text === undefined ? undefined : Number(text);
      const found = await recentCalls(store, { ...filtersOf(query), before, limit });
      if (!found.ok) return found;
      const { calls, next } = found.value;
      const items = calls.map((call) => shownTo(identity, call));
      return ok(
        listReply('calls', { items, nextCursor: next === undefined ? undefined : cursorOf(String(next)) }),
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
        ? await callById(store, Number(id))
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
            chains: z.int().openapi({ description: 'One for each process that recorded calls.' }),
            dropped: z.int().openapi({ description: 'Calls that could not be recorded at the time.' }),
            faults: z.array(z.looseObject({ kind: z.string() })),
            faultCount: z.int(),
          })
          .openapi('CallVerification'),
        example: { entries: 120, chains: 2, dropped: 0, faults: [], faultCount: 0 },
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
        'Each line has the entry as it was hashed: `hash` is the SHA-256 of `previous`, a line feed, and `entry` in canonical JSON.',
      scope: 'admin',
      query: FILTERS,
      answer: {
        about: 'One JSON object per line.',
        schema: z.string(),
        example: '{"id":17,"chain":"9b2f","seq":12,"previous":"5e","hash":"07","entry":{…}}\n',
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
  for await (const lines of exportedCalls(store, filters)) {
    if (!lines.ok) throw new Error(sentenceOf(lines.error));
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

function shownTo(identity: Identity, call: CallView): unknown {
  return allows(identity, 'admin') ? call : { ...call, arguments: undefined };
}
