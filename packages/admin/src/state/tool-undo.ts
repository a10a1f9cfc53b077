import type { QueryClient } from '@tanstack/react-query';
import type { AuditEntry, AuditPage } from '../../../gateway/src/api/audit-event.ts';
import type { Hint } from '../../../gateway/src/api/hint.ts';
import type { Tool } from '../../../gateway/src/api/tool.ts';
import { read, formatError } from './api.ts';
import { findHintSetting } from './hint-words.ts';
import { notify } from './notices.ts';
import { changeTool, type ToolChange } from './tools.ts';

/** An operator's settings of a tool, as in the audit event of a change. */
interface Audited {
  readonly title?: string;
  readonly annotations?: Readonly<Record<string, boolean>>;
}

/**
 * Changes the title or annotations of a tool and offers Undo. The former overrides are taken from the audit event of
 * the change: a title alone does not show whether it is the server's.
 */
export async function changeToolWithUndo(client: QueryClient, tool: Tool, change: ToolChange): Promise<Tool> {
  const { id, title, name } = tool;
  const last = await latestChange(id);
  const changed = await changeTool(id, change);
  const own = await latestChange(id);
  if (own === undefined || 'reason' in own || own.id === last?.id) return changed;
  const undo = async (): Promise<void> => {
    await changeTool(id, formerOf(tool, change, own.before ?? {}));
    await client.invalidateQueries({ queryKey: ['tools'] });
  };
  notify({
    text: `${change.annotations === undefined ? 'Title' : 'Annotations'} of ${title ?? name} changed`,
    undo: () =>
      void undo().catch((error: unknown) =>
        notify({ text: `It could not be undone: ${formatError(error)}` }),
      ),
  });
  return changed;
}

async function latestChange(id: string): Promise<AuditEntry | undefined> {
  const path = `/activity?targetKind=tool&targetId=${encodeURIComponent(id)}&limit=1`;
  return (await read<AuditPage>(path)).activity[0];
}

/** The change that restores the former state. */
function formerOf(tool: Tool, { title, annotations }: ToolChange, before: Audited): ToolChange {
  const hints = Object.keys(annotations ?? {}).map(
    (key) =>
      [
        key,
        (key === 'title'
          ? before.title
          : (before.annotations?.[key] ?? findHintSetting(tool, key as Hint))) ?? null,
      ] as const,
  );
  return {
    ...(title !== undefined && { title: before.title ?? null }),
    ...(annotations !== undefined && { annotations: Object.fromEntries(hints) }),
  };
}
