import type { CatalogReport, CatalogTool } from '../../../api/status.ts';
import type { LintLevels } from '../../../core/hints/lint.ts';
import { withoutUndefined } from '@assay-mcp/kit/json-object';
import type { Catalog } from '../../catalog/catalog.ts';
import { getDeclared, parseDefinition } from '../../catalog/definition-facts.ts';
import type { Entry } from '../../catalog/listing.ts';
import { listServerStatuses } from '../../catalog/server-status.ts';
import { getEntryName, getRefId } from '../toolsets/tool-index.ts';
import { countReviewEntries } from './review-counts.ts';
import {
  toDriftView,
  toHintViews,
  getLintFindings,
  getServingState,
  pickShownMembers,
  toSuggestion,
} from './tool-view.ts';

export interface ReportOptions {
  readonly levels: LintLevels;
  /** Absent: all servers. */
  readonly server?: string | undefined;
  readonly recalled?: readonly string[];
}

export function buildCatalogReport(
  catalog: Catalog,
  { levels, server, recalled = [] }: ReportOptions,
): CatalogReport {
  const isAsked = (name: string): boolean => server === undefined || name === server;
  const { entries, disabled } = catalog.all.listing('tools');
  const asked = [...entries, ...disabled].filter((entry) => isAsked(entry.server.spec.name));
  const statuses = listServerStatuses(catalog);
  return withoutUndefined({
    tools: asked.map((entry) => toCatalogTool(entry, levels)),
    servers: statuses.filter(({ name }) => isAsked(name) && !recalled.includes(name)),
    recalled,
    known: statuses.map(({ name }) => name),
    reports: catalog.reports(['tools']).map(({ text }) => text),
    review: countReviewEntries(asked),
  });
}

function toCatalogTool(entry: Entry, levels: LintLevels): CatalogTool {
  const { definition, name, server } = entry;
  const resolved = server.claims.resolvedOf(server.spec, definition);
  const drift = server.claims.driftOf(server.spec, definition);
  const members = parseDefinition(definition);
  return {
    ...members,
    ...pickShownMembers(entry),
    ...getServingState(entry),
    hints: toHintViews(resolved),
    lint: getLintFindings({ name, declared: getDeclared(definition), resolved }, levels),
    ...toSuggestion(entry, resolved, members),
    ...(drift !== undefined && { drift: toDriftView(drift) }),
    name: entry.key,
    server: server.spec.name,
    namespacedName: getEntryName(entry),
    refId: getRefId(entry),
  };
}
