import type { LintLevels } from '../../../core/hints/lint.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { getDeclared, parseDefinition } from '../../catalog/definition-facts.ts';
import type { Entry } from '../../catalog/listing.ts';
import { listServerStatuses, type ServerStatus } from '../../catalog/server-status.ts';
import { getEntryName, getRefId } from '../toolsets/tool-index.ts';
import { countReviewEntries, type ReviewCounts } from './review-counts.ts';
import type { Tool } from '../../../api/tool.ts';
import { toDriftView, toHintViews, getLintFindings, getServingState, pickShownMembers } from './tool-view.ts';

/** The tools and servers of a catalog, as `assay tools` and `assay lint` print them. Pure JSON. */
export interface CatalogReport {
  /** In catalog order, with disabled tools last. */
  readonly tools: readonly ListedTool[];
  readonly servers: readonly ServerStatus[];
  /** Servers that were not started for this report: their tools are as last seen. */
  readonly recalled: readonly string[];
  /** The names of all servers, even if the report is about one. */
  readonly known: readonly string[];
  /** Sentences about tools that clients see changed or not at all. */
  readonly reports: readonly string[];
  readonly review?: ReviewCounts;
}

/** The members of a definition as its server wrote them, with those that Assay adds. */
export interface ListedTool
  extends
    Pick<Tool, 'state' | 'withheld' | 'hints' | 'lint' | 'drift' | 'namespacedName' | 'refId'>,
    Readonly<Record<string, unknown>> {
  /** The public name. */
  readonly name: string;
  readonly server: string;
}

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
  const review = countReviewEntries(asked);
  return {
    tools: asked.map((entry) => listedTool(entry, levels)),
    servers: statuses.filter(({ name }) => isAsked(name) && !recalled.includes(name)),
    recalled,
    known: statuses.map(({ name }) => name),
    reports: catalog.reports(['tools']).map(({ text }) => text),
    ...(review !== undefined && { review }),
  };
}

function listedTool(entry: Entry, levels: LintLevels): ListedTool {
  const { definition, name, server } = entry;
  const resolved = server.claims.resolvedOf(server.spec, definition);
  const drift = server.claims.driftOf(server.spec, definition);
  return {
    ...parseDefinition(definition),
    ...pickShownMembers(entry),
    ...getServingState(entry),
    hints: toHintViews(resolved),
    lint: getLintFindings({ name, declared: getDeclared(definition), resolved }, levels),
    ...(drift !== undefined && { drift: toDriftView(drift) }),
    name: entry.key,
    server: server.spec.name,
    namespacedName: getEntryName(entry),
    refId: getRefId(entry),
  };
}
