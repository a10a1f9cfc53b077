import { type Label, LABEL_PAGE } from '../../api/label.ts';
import { ok } from '@assay-mcp/kit/result';
import type { StoredLabel } from '../../gateway/ports/labels.ts';
import type { AdminDeps } from './admin-deps.ts';
import { paginate } from './paging.ts';
import { toListReply, route, type Route } from './route.ts';

const EXAMPLE: Label = {
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
          schema: LABEL_PAGE,
          example: { labels: [EXAMPLE] },
        },
      },
      async ({ page }) => {
        const listed = await labels.list();
        if (!listed.ok) return listed;
        const sorted = [...listed.value].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
        const found = paginate(sorted, page, keyOf);
        return found.ok
          ? ok(toListReply('labels', { ...found.value, items: found.value.items.map(toLabel) }))
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

function toLabel({ subject, label, source, sinceMs, seenMs }: StoredLabel): Label {
  return { subject, label, source, since: isoOf(sinceMs), lastCallAt: isoOf(seenMs) };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
