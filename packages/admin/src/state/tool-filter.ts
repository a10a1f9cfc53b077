import type { Hint } from '../../../gateway/src/api/hint.ts';
import type { ToolsetMember } from '../../../gateway/src/api/toolset.ts';
import { createMembershipCheck } from './members.ts';
import type { ToolSearch } from './tool-search.ts';
import type { Risk, ToolRow } from './tools.ts';

/** `members` is undefined if the toolset is not loaded yet or does not exist. */
export function filterTools(
  rows: readonly ToolRow[],
  search: ToolSearch,
  members: readonly ToolsetMember[] | undefined,
): readonly ToolRow[] {
  const { q = '', risk, hint, lint, drift, server, toolset } = search;
  const words = q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const [hintName, wanted] = hint?.split(':') ?? [];
  const isMember = toolset === undefined ? undefined : createMembershipCheck(members ?? []);
  return rows.filter(
    (row) =>
      (risk === undefined || row.risk === risk) &&
      (hintName === undefined || row.hints[hintName as Hint].effective === (wanted === 'yes')) &&
      (lint === undefined || fitsLint(row, lint)) &&
      (drift === undefined || fitsDrift(row, drift)) &&
      (server === undefined || row.server === server) &&
      (isMember === undefined || isMember(row)) &&
      words.every((word) => row.text.includes(word)),
  );
}

function fitsLint({ lint }: ToolRow, wanted: string): boolean {
  if (wanted === 'any') return lint.length > 0;
  return wanted === 'none' ? lint.length === 0 : lint.some(({ rule }) => rule === wanted);
}

function fitsDrift({ drift }: ToolRow, wanted: 'any' | 'dangerous' | 'none'): boolean {
  return wanted === 'any' ? drift !== 'none' : drift === wanted;
}

export type ToolItem =
  | { readonly kind: 'group'; readonly name: string; readonly label: string; readonly count: number }
  | { readonly kind: 'tool'; readonly row: ToolRow };

/** Tools that only read by a claim that counts, and those whose server says so without being trusted. */
type RiskGroup = Risk | 'claimed_read_only';

const RISK_GROUPS: Readonly<Record<RiskGroup, string>> = {
  read_only: 'Read-only',
  claimed_read_only: 'Read-only by an untrusted claim',
  write: 'Modifying',
  destructive: 'Destructive',
  unannotated: 'Unannotated',
};

function riskGroupOf({ risk, isKnownReadOnly }: ToolRow): RiskGroup {
  return risk === 'read_only' && !isKnownReadOnly ? 'claimed_read_only' : risk;
}

/** Groups with their tools; of a collapsed group, only the heading. */
export function groupTools(
  rows: readonly ToolRow[],
  by: 'server' | 'risk',
  collapsed: ReadonlySet<string>,
): readonly ToolItem[] {
  const groups = Map.groupBy(rows, (row) => (by === 'risk' ? riskGroupOf(row) : row.server));
  const names = by === 'risk' ? Object.keys(RISK_GROUPS).filter((risk) => groups.has(risk)) : groups.keys();
  const items: ToolItem[] = [];
  for (const name of names) {
    const tools = groups.get(name) ?? [];
    const label = by === 'risk' ? RISK_GROUPS[name as RiskGroup] : name;
    items.push({ kind: 'group', name, label, count: tools.length });
    if (!collapsed.has(name)) for (const row of tools) items.push({ kind: 'tool', row });
  }
  return items;
}
