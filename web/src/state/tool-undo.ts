import type { QueryClient } from '@tanstack/react-query';
import type { AuditEntry, AuditPage } from '../../../src/edges/rest/contract/activity.ts';
import type { Tool } from '../../../src/edges/rest/contract/tools.ts';
import { read, reasonOf } from './api.ts';
import { notify } from './notices.ts';
import { changeTool, type ToolChange } from './tools.ts';

/** What an operator has set of a tool, as the event of a change has it. */
interface Audited {
  readonly title?: string;
  readonly annotations?: Readonly<Record<string, boolean>>;
}

/**
 * Changes the title or annotations of a tool and offers to take that back. What was overridden before is in the event of
 * the change: of a title alone one cannot see whether it is the server's.
 */
export async function changeToolWithUndo(
  client: QueryClient,
  { id, title, name }: Tool,
  change: ToolChange,
): Promise<Tool> {
  const last = await latestChange(id);
  const changed = await changeTool(id, change);
  const own = await latestChange(id);
  if (own === undefined || own.id === last?.id) return changed;
  const undo = async (): Promise<void> => {
    await changeTool(id, formerOf(change, own.before ?? {}));
    await client.invalidateQueries({ queryKey: ['tools'] });
  };
  notify({
    text: `${change.annotations === undefined ? 'Title' : 'Annotations'} of ${title ?? name} changed`,
    undo: () =>
      void undo().catch((error: unknown) =>
        notify({ text: `It could not be taken back: ${reasonOf(error)}` }),
      ),
  });
  return changed;
}

async function latestChange(id: string): Promise<AuditEntry | undefined> {
  const path = `/activity?targetKind=tool&targetId=${encodeURIComponent(id)}&limit=1`;
  return (await read<AuditPage>(path)).activity[0];
}

/** The change that leads back. */
function formerOf({ title, annotations }: ToolChange, before: Audited): ToolChange {
  const hints = Object.keys(annotations ?? {}).map(
    (key) => [key, (key === 'title' ? before.title : before.annotations?.[key]) ?? null] as const,
  );
  return {
    ...(title !== undefined && { title: before.title ?? null }),
    ...(annotations !== undefined && { annotations: Object.fromEntries(hints) }),
  };
}
