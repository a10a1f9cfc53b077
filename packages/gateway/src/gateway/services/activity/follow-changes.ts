import { isJsonObject } from '@assay-mcp/kit/json-object';
import type { ChangeEvent } from '../../../core/event-line.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { StoredAuditEvent } from '../../ports/records.ts';
import type { Store } from '../../ports/store.ts';

type AuditStore = Pick<Store, 'auditEvents' | 'onChange'>;

/** Entries read at once. */
const PAGE = 200;
/** Names of members in an event. */
const MAX_NAMES = 50;
const MAX_NAME_LENGTH = 256;

/**
 * Reports each new entry of the audit log, whichever process wrote it, from now on. An entry that cannot be read now is
 * reported with the next change. Returns a function that ends it.
 */
export async function followChanges(
  store: AuditStore,
  events: Pick<EventLog, 'change'>,
): Promise<() => void> {
  const newest = await store.auditEvents({ limit: 1 });
  let last = newest.ok ? (newest.value[0]?.id ?? 0) : undefined;
  let reading: Promise<void> = Promise.resolve();
  const read = async (): Promise<void> => {
    // Without a position, everything since the first entry would count as new.
    if (last === undefined) {
      const found = await store.auditEvents({ limit: 1 });
      if (found.ok) last = found.value[0]?.id ?? 0;
      return;
    }
    for (;;) {
      const page = await store.auditEvents({ after: last, limit: PAGE });
      if (!page.ok) return;
      for (const entry of page.value) {
        last = entry.id;
        if (entry.kind === undefined) events.change(toChange(entry), entry.atMs);
      }
      if (page.value.length < PAGE) return;
    }
  };
  return store.onChange((parts) => {
    if (parts.includes('audit')) reading = reading.then(read).catch(() => undefined);
  });
}

function toChange({ id, subject, action, target, before, after }: StoredAuditEvent): ChangeEvent {
  return {
    id,
    subject: subject.slice(0, MAX_NAME_LENGTH),
    action,
    target: {
      kind: target.kind,
      id: target.id.slice(0, MAX_NAME_LENGTH),
      name: target.name.slice(0, MAX_NAME_LENGTH),
    },
    changed: listChanged(before, after),
  };
}

/** Names only: values may be large, and are in the audit log. */
function listChanged(before: unknown, after: unknown): readonly string[] {
  const [old, now] = [isJsonObject(before) ? before : {}, isJsonObject(after) ? after : {}];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names]
    .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
    .slice(0, MAX_NAMES)
    .map((name) => name.slice(0, MAX_NAME_LENGTH));
}
