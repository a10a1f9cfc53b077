import { z } from '@hono/zod-openapi';
import { SESSION_LABELS } from '../../core/policy/policy.ts';
import { ok } from '../../core/result.ts';
import type { StoredLabel } from '../../gateway/ports/labels.ts';
import type { AdminDeps } from './admin-deps.ts';
import { pageOf } from './paging.ts';
import { listReply, listSchema, route, type Route } from './route.ts';

const LABEL = z
  .object({
    subject: z.string().openapi({ description: 'Name of a token, an issuer’s subject, or local.' }),
    label: z.enum(SESSION_LABELS),
    source: z.string().openapi({
      description: 'What set the label: the namespaced name of a tool, or a server and a method.',
    }),
    since: z.iso.datetime(),
    lastCallAt: z.iso.datetime().openapi({ description: 'Time of the last known call, to the minute.' }),
  })
  .openapi('SessionLabel');

const EXAMPLE = {
  subject: 'ci',
  label: 'saw-untrusted',
  source: 'web.fetch',
  since: '2026-11-22T09:30:00.000Z',
  lastCallAt: '2026-11-22T09:41:00.000Z',
};

/** Routes about subjects that have seen untrusted content or private data. */
export function labelRoutes({ labels }: Pick<AdminDeps, 'labels'>): readonly Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/labels',
        id: 'listLabels',
        summary: 'List the subjects that received untrusted content or private data, oldest first',
        isPaged: true,
        answer: {
          about: 'A page of labels.',
          schema: listSchema('labels', LABEL),
          example: { labels: [EXAMPLE] },
        },
      },
      async ({ page }) => {
        const listed = await labels.list();
        if (!listed.ok) return listed;
        const sorted = [...listed.value].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
        const found = pageOf(sorted, page, keyOf);
        return found.ok
          ? ok(listReply('labels', { ...found.value, items: found.value.items.map(shown) }))
          : found;
      },
    ),
    route(
      {
        method: 'delete',
        path: '/labels/{subject}',
        id: 'clearLabels',
        summary: 'Clear the labels of a subject',
        about: 'The results of its next calls may label it again.',
        answer: { status: 204, about: 'The labels are cleared.' },
        refusals: ['LABELS_UNKNOWN'],
      },
      async ({ param, identity }) => {
        const cleared = await labels.clear(param('subject'), identity.subject);
        return cleared.ok ? ok({ kind: 'none' }) : cleared;
      },
    ),
  ];
}

function keyOf({ sinceMs, subject, label }: StoredLabel): string {
  return `${isoOf(sinceMs)} ${subject} ${label}`;
}

function shown({ subject, label, source, sinceMs, seenMs }: StoredLabel): z.input<typeof LABEL> {
  return { subject, label, source, since: isoOf(sinceMs), lastCallAt: isoOf(seenMs) };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
