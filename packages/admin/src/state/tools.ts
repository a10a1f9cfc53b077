import { queryOptions } from '@tanstack/react-query';
import type { AuditPage } from '../../../gateway/src/api/audit-event.ts';
import type { Hint } from '../../../gateway/src/api/hint.ts';
import type { Tool, ToolSummary, ToolPage, ToolSettings } from '../../../gateway/src/api/tool.ts';
import { read, write } from './api.ts';

export type Risk = 'read_only' | 'write' | 'destructive' | 'unannotated';

/** The data of a row of the list. */
export interface ToolRow {
  /** Whether decisions may rely on the tool being read-only. */
  readonly isKnownReadOnly: boolean;
  readonly isConsistent: boolean;
  /** What the study that ships with Assay saw of it. */
  readonly studied: string | undefined;
  readonly id: string;
  readonly name: string;
  readonly namespacedName: string;
  readonly title: string;
  readonly server: string;
  readonly risk: Risk;
  readonly hints: ToolSummary['hints'];
  readonly isContradicted: boolean;
  readonly state: Tool['state'];
  readonly drift: 'none' | 'review' | 'dangerous';
  readonly lint: ToolSummary['lint'];
  /** Text for the search, in lower case. */
  readonly text: string;
}

export const HINT_LABELS: Readonly<Record<Hint, string>> = {
  readOnlyHint: 'Read-only',
  destructiveHint: 'Destructive',
  idempotentHint: 'Idempotent',
  openWorldHint: 'Open world',
};

export type RiskHints = Readonly<
  Record<Hint, Pick<ToolSummary['hints'][Hint], 'effective' | 'decidedBy' | 'isContradicted'>>
>;

export function getRisk({ hints }: { readonly hints: RiskHints }): Risk {
  const { readOnlyHint, destructiveHint } = hints;
  const isContradicted = Object.values(hints).some((hint) => hint.isContradicted);
  if (readOnlyHint.effective && !destructiveHint.effective && !isContradicted) return 'read_only';
  if (Object.values(hints).every(({ decidedBy }) => decidedBy === 'default')) return 'unannotated';
  return destructiveHint.effective || isContradicted ? 'destructive' : 'write';
}

/** Page sizes: a page is parsed within a few milliseconds, and the first one fills any screen. */
const [FIRST_PAGE, PAGE] = [100, 500];

const TOOL_ROWS = ['tools', 'rows'] as const;

/** Lists of which more pages are being loaded. */
const partial = new WeakSet<readonly ToolRow[]>();

/** Whether these are all rows, not only the first page. */
export function isComplete(rows: readonly ToolRow[] | undefined): boolean {
  return rows !== undefined && !partial.has(rows);
}

/**
 * All tools as small rows: the schemas of 10,000 tools would be tens of megabytes. On first load, the first page is
 * shown before the others are loaded.
 */
export const toolsQuery = queryOptions({
  queryKey: TOOL_ROWS,
  queryFn: async ({ signal, client }): Promise<readonly ToolRow[]> => {
    const rows: ToolRow[] = [];
    const isAnew = client.getQueryData(TOOL_ROWS) === undefined;
    let cursor: string | undefined;
    do {
      const range =
        cursor === undefined
          ? `limit=${isAnew ? FIRST_PAGE : PAGE}`
          : `limit=${PAGE}&cursor=${encodeURIComponent(cursor)}`;
      const page = await read<ToolPage<ToolSummary>>(`/tools?summary=true&${range}`, signal);
      for (const tool of page.tools) rows.push(rowOf(tool));
      const isFirst = cursor === undefined;
      cursor = page.nextCursor;
      if (isFirst && isAnew && cursor !== undefined) {
        const first = [...rows];
        partial.add(first);
        client.setQueryData(TOOL_ROWS, first);
        await isIdle();
      }
    } while (cursor !== undefined);
    return rows;
  },
  // Comparing 10,000 rows with the former ones would block the page longer than rendering them again.
  structuralSharing: false,
});

/** Resolves when the browser is idle, so that the current rows are shown first. Safari has no `requestIdleCallback`. */
function isIdle(): Promise<void> {
  return new Promise((resolve) => {
    if ('requestIdleCallback' in window) requestIdleCallback(() => resolve(), { timeout: 500 });
    else setTimeout(resolve, 50);
  });
}

export const toolQuery = (id: string) =>
  queryOptions({
    queryKey: ['tools', 'one', id],
    queryFn: ({ signal }) => read<Tool>(`/tools/${encodeURIComponent(id)}`, signal),
  });

export function setEnabled(id: string, enabled: boolean): Promise<Tool> {
  return write('PATCH', `/tools/${encodeURIComponent(id)}`, { enabled });
}

export type ToolChange = Pick<ToolSettings, 'title' | 'confirm' | 'annotations'>;

export function changeTool(id: string, change: ToolChange): Promise<Tool> {
  return write('PATCH', `/tools/${encodeURIComponent(id)}`, change);
}

/** Null inherits. */
export type HintValues = Readonly<Partial<Record<Hint, boolean | null>>>;

export function setHints(id: string, annotations: HintValues): Promise<Tool> {
  return write('PATCH', `/tools/${encodeURIComponent(id)}`, { annotations });
}

/** Under `activity`, so that its events refresh it. */
export const toolHistoryQuery = (id: string) =>
  queryOptions({
    queryKey: ['activity', 'tool', id],
    queryFn: async ({ signal }) =>
      (
        await read<AuditPage>(
          `/activity?targetKind=tool&targetId=${encodeURIComponent(id)}&limit=100`,
          signal,
        )
      ).activity,
  });

function rowOf(tool: ToolSummary): ToolRow {
  const { id, name, namespacedName, serverName, hints, drift, lint } = tool;
  const title = tool.title ?? name;
  const risk = getRisk(tool);
  return {
    isKnownReadOnly: risk === 'read_only' && hints.readOnlyHint.decision,
    isConsistent: tool.isConsistent === true,
    studied: tool.studied,
    id,
    name,
    namespacedName,
    title,
    server: serverName,
    risk,
    hints,
    isContradicted: Object.values(hints).some((hint) => hint.isContradicted),
    state: tool.state,
    drift: drift === undefined ? 'none' : drift.isDangerous ? 'dangerous' : 'review',
    lint,
    text: `${title} ${name} ${tool.description ?? ''}`.slice(0, 2_000).toLowerCase(),
  };
}
