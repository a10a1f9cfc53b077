import type { Log } from '../ports/log.ts';
import type { AuditEvent } from '../../core/audit-event.ts';
import { isProseAlone, computeSeverity, type Drift, type ProsePolicy } from '../../core/hints/drift.ts';
import { formatRisk } from '../../core/hints/drift-text.ts';
import {
  isVolatile,
  computeVolatility,
  type ToolRecord,
  type Volatility,
} from '../../core/hints/tool-record.ts';
import { truncateText } from '@assay-mcp/kit/shorten';

/** The result of comparing a tool. */
export interface Comparison {
  /** Undefined: the definition is the accepted one. */
  readonly drift: Drift | undefined;
  /** Whether this is the first comparison in this connection. */
  readonly isNewlyConnected: boolean;
}

/** The record to store for a tool that has changed. */
export function computeNextRecord(before: ToolRecord, { drift, isNewlyConnected }: Comparison): ToolRecord {
  const { drift: _, ...rest } = before;
  const change = changeBetween(before.drift, drift);
  const isCounted = isNewlyConnected || change === 'behaviour';
  const volatility = isCounted ? computeVolatility(before.volatility, change) : before.volatility;
  return withVolatility(drift === undefined ? rest : { ...rest, drift }, volatility);
}

/** The record if a new connection finds the definition unchanged since the last one. */
export function computeUnchangedRecord(before: ToolRecord): ToolRecord {
  const volatility = computeVolatility(before.volatility, 'same');
  return volatility === before.volatility ? before : withVolatility(before, volatility);
}

function withVolatility(
  { volatility: _, ...record }: ToolRecord,
  volatility: Volatility | undefined,
): ToolRecord {
  return volatility === undefined ? record : { ...record, volatility };
}

function changeBetween(before: Drift | undefined, now: Drift | undefined): 'same' | 'prose' | 'behaviour' {
  const isProse = [before, now].every((drift) => drift === undefined || isProseAlone(drift));
  if (!isProse) return 'behaviour';
  return before?.digest === now?.digest ? 'same' : 'prose';
}

/** Groups changes for rate-limited reports. */
export function getDriftKind({ drift, volatility }: ToolRecord, prose: ProsePolicy): string {
  if (drift === undefined) return 'back';
  const severity = computeSeverity(drift, prose);
  return isVolatile({ volatility }) && severity === 'review' ? 'volatile' : severity;
}

/** Whether it is more than another prose change of a tool known to change its prose. */
export function isDriftNews(before: ToolRecord, after: ToolRecord): boolean {
  const texts = [before.drift, after.drift].every((drift) => drift === undefined || isProseAlone(drift));
  return !isVolatile(before) || !texts;
}

/** For the log. */
export function formatDrift(record: ToolRecord, prose: ProsePolicy): string {
  const { name, drift } = record;
  const tool = JSON.stringify(name);
  if (drift === undefined) return `the definition of ${tool} is again the one that was accepted`;
  const risks = drift.risks.map(formatRisk).join('; ');
  switch (getDriftKind(record, prose)) {
    case 'volatile':
      return `the titles or descriptions of ${tool} change at each start; this is not reported again`;
    case 'harmless':
      return `the definition of ${tool} has changed`;
    case 'review':
      return `the definition of ${tool} has changed, and waits for a review: ${risks}`;
    default:
      return `the definition of ${tool} has changed in a dangerous way: ${risks}`;
  }
}

export function toDriftEvent(before: ToolRecord, after: ToolRecord, atMs: number): AuditEvent {
  const { id, server, name, drift } = after;
  return {
    atMs,
    subject: `server:${server}`,
    action: drift === undefined ? 'tool.undrift' : 'tool.drift',
    target: { kind: 'tool', id, name: `${server}.${name}` },
    peer: 'server',
    before: before.drift && shownDrift(before.drift),
    after: drift && shownDrift(drift),
  };
}

function shownDrift({ changes, risks }: Drift): unknown {
  return { changes, dangers: risks.map(formatRisk) };
}

/** Maximum number of changed tools of one comparison that are logged one by one. */
const MAX_LOGGED = 20;
/** Number of tools that are named if there are more. */
const MAX_NAMED = 5;
const MAX_NAME_LENGTH = 100;

/** Logs what has changed in one comparison of a server's tools: one line each, or one that names the first ones. */
export function logChanges(
  log: Log,
  server: string,
  changes: readonly { readonly tool: string; readonly message: string }[],
): void {
  if (changes.length <= MAX_LOGGED) for (const { message } of changes) log.warn(message, { server });
  else
    log.warn('the definitions of many tools have changed; `assay review` lists them', {
      server,
      tools: changes.length,
      first: changes.slice(0, MAX_NAMED).map(({ tool }) => truncateText(tool, MAX_NAME_LENGTH)),
    });
}
