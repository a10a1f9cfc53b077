import { ok } from '@assay-mcp/kit/result';
import { expect, it } from 'vitest';
import type { ChangeEvent } from '../../../src/core/event-line.ts';
import type { AuditEntry } from '../../../src/gateway/ports/records.ts';
import type { StorePart } from '../../../src/gateway/ports/store.ts';
import { followChanges } from '../../../src/gateway/services/activity/follow-changes.ts';
import { until } from '../../../../../test/support/endings.ts';

const entry = (id: number, before?: unknown, after?: unknown): AuditEntry => ({
  ...{ id, atMs: id, subject: 'ada', action: 'tool.update', before, after },
  target: { kind: 'tool', id: `t${id}`, name: 'x.y' },
});

it('reports each entry after the start once and in order, with the names of what differs', async () => {
  const entries: AuditEntry[] = [entry(1)];
  let announce: (parts: readonly StorePart[]) => void = () => undefined;
  const changes: ChangeEvent[] = [];
  const stop = await followChanges(
    {
      auditEvents: ({ after, limit }) =>
        Promise.resolve(
          ok(
            after === undefined
              ? entries.toReversed().slice(0, limit)
              : entries.filter(({ id }) => id > after).slice(0, limit),
          ),
        ),
      onChange: (listener) => {
        announce = listener;
        return () => (announce = () => undefined);
      },
    },
    { change: (change) => changes.push(change) },
  );
  entries.push(entry(2, { enabled: true, note: 'secret' }, { enabled: false, note: 'secret' }));
  entries.push({ id: 3, kind: 'unreadable', reason: 'x' });
  for (let id = 4; id < 500; id += 1) entries.push(entry(id, undefined, { enabled: true }));
  announce(['tokens']);
  announce(['records', 'audit']);
  announce(['audit']);
  await until('all are reported', () => changes.length >= 497 || undefined);
  expect(changes.map(({ id }) => id)).toEqual([2, ...Array.from({ length: 496 }, (_, at) => at + 4)]);
  expect(changes[0]).toEqual({
    ...{ id: 2, subject: 'ada', action: 'tool.update', changed: ['enabled'] },
    target: { kind: 'tool', id: 't2', name: 'x.y' },
  });
  stop();
});
