import { formatDifference, type ListReport } from '../../core/list-report.ts';
import { findUnusedPatterns } from '../../core/tool-filter.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { UNSTORED_REASON, isUnstored } from './unstored-definitions.ts';
import { LISTS } from './inventory.ts';
import { cutPhrases } from './list-budget.ts';
import type { Definition, ListKind } from '../ports/link.ts';
import type { Server } from './server.ts';
import { shorten } from '@assay-mcp/kit/shorten';

/** A listed entry, as far as reports need it. */
interface Listed {
  readonly server: Server;
  /** The server's own name for it. */
  readonly name: string;
  readonly definition: Definition;
}

/** Reports entries of one list that are withheld, listed without some members, or cut. */
export function buildListReports(
  entries: readonly Listed[],
  { servers, kind }: { readonly servers: readonly Server[]; readonly kind: ListKind },
): readonly ListReport[] {
  return [
    ...fitnessReports(entries.filter(({ definition }) => !isUnstored(definition))),
    ...unstoredReports(entries),
    ...servers.flatMap((server) => [
      ...namelessReport(server, kind),
      ...cutReports(server, kind),
      ...(kind === 'tools' ? filterReports(server) : []),
    ]),
  ];
}

/** An entry whose name already belongs to another server's entry. */
export interface HiddenEntry {
  readonly key: string;
  readonly server: string;
  /** The server whose entry is shown. */
  readonly shown: string;
}

/** Above this number, the hidden entries of a pair of servers share one report. */
const MAX_HIDDEN_ALONE = 3;

/** Two similar servers may have all their resource URIs in common. */
export function buildHiddenReports(hidden: readonly HiddenEntry[], kind: ListKind): readonly ListReport[] {
  const pairs = Map.groupBy(hidden, ({ server, shown }) => `${server}\n${shown}`);
  const texts = [...pairs.values()].flatMap((entries) => {
    const [first, ...others] = entries;
    if (first === undefined || others.length < MAX_HIDDEN_ALONE)
      return entries.map(({ server, key, shown }) => `${server}: ${key} is hidden, ${shown} has it already`);
    const { server, key, shown } = first;
    return [
      `${server}: ${entries.length} ${WHAT[kind]} are hidden, ${shown} has them already: ${key} and ${others.length} more`,
    ];
  });
  return texts.map((text) => ({ code: 'name_hidden', text }));
}

/** Reports the tools whose results differ from the output schema of their entry or document. */
export function buildDifferenceReports(servers: readonly Server[]): readonly ListReport[] {
  return servers.flatMap(({ spec, link }) => {
    const differences = link?.differences ?? [];
    const left = differences.length - MAX_REPORTED;
    return [
      ...differences
        .slice(0, MAX_REPORTED)
        .map((one) => reportDifference(`${spec.name}: ${formatDifference(one)}`)),
      ...(left > 0
        ? [
            reportDifference(
              `${spec.name}: ${left} more tools returned results that do not match their output schemas`,
            ),
          ]
        : []),
    ];
  });
}

function reportDifference(text: string): ListReport {
  return toPrintableReport({ code: 'output_differs', text });
}

/** Maximum length of a report; a server chooses the length of its names. */
const MAX_REPORT_LENGTH = 1_000;

export function toPrintableReport({ code, text }: ListReport): ListReport {
  return { code, text: toPrintable(shorten(text, MAX_REPORT_LENGTH)) };
}

/** Maximum number of individual reports per server. */
const MAX_REPORTED = 100;

function fitnessReports(entries: readonly Listed[]): readonly ListReport[] {
  const reports: ListReport[] = [];
  const counts = new Map<Server, number>();
  for (const entry of entries)
    for (const report of [...fitnessReport(entry), ...danglingReport(entry)]) {
      const count = (counts.get(entry.server) ?? 0) + 1;
      counts.set(entry.server, count);
      if (count <= MAX_REPORTED) reports.push(report);
    }
  const more = [...counts].filter(([, count]) => count > MAX_REPORTED);
  return [
    ...reports,
    ...more.map(([{ spec }, count]): ListReport => ({
      code: 'withheld',
      text: `${spec.name}: ${count - MAX_REPORTED} more are withheld or listed without a part`,
    })),
  ];
}

/** The number of withheld ones is in the log of each comparison; here it would be a new report each time. */
function unstoredReports(entries: readonly Listed[]): readonly ListReport[] {
  const unstored = entries.filter(({ definition }) => isUnstored(definition));
  const names = new Set(unstored.map(({ server }) => server.spec.name));
  return [...names].map((name) => ({
    code: 'definitions_limit',
    text: `some tools of ${name} are withheld: ${UNSTORED_REASON}`,
  }));
}

function fitnessReport(entry: Listed): readonly ListReport[] {
  const { legacy, modern } = entry.definition.fitness;
  const worse = legacy.kind === 'whole' ? modern : legacy;
  const whose = `${entry.server.spec.name}: ${entry.name}`;
  if (worse.kind === 'whole') return [];
  const era = legacy.kind === modern.kind ? '' : ` from ${worse === legacy ? 'legacy' : 'modern'} clients`;
  if (worse.kind === 'withheld')
    return [{ code: 'withheld', text: `${whose} is withheld${era}: ${worse.reason}` }];
  const paths = worse.paths.map((path) => path.join('.')).join(', ');
  const text = `${whose} is listed without ${paths}${era}: ${worse.reasons.join('; ')}`;
  return [{ code: 'member_left_out', text }];
}

function danglingReport({ server, name, definition }: Listed): readonly ListReport[] {
  const { danglingReference } = definition;
  if (danglingReference === undefined) return [];
  const text = `${server.spec.name}: ${name} is listed unchanged, although ${danglingReference}`;
  return [{ code: 'reference_dangling', text }];
}

/** Nothing is reported before the server has listed its tools. */
function filterReports({ spec, inventory }: Server): readonly ListReport[] {
  if (spec.toolFilter === undefined || inventory.tools.length === 0) return [];
  const names = inventory.tools.flatMap(({ key }) => key ?? []);
  return findUnusedPatterns(spec.toolFilter, names)
    .slice(0, MAX_REPORTED)
    .map((pattern) => ({
      code: 'filter_unmatched',
      text: `${spec.name}: ${JSON.stringify(pattern)} in "tools" matches none of its tools`,
    }));
}

function namelessReport(server: Server, kind: ListKind): readonly ListReport[] {
  const nameless = server.inventory[kind].filter((definition) => definition.key === undefined).length;
  return nameless === 0
    ? []
    : [
        {
          code: 'withheld',
          text: `${server.spec.name}: ${nameless} of its ${kind} have no ${LISTS[kind].key} and are withheld`,
        },
      ];
}

function cutReports(server: Server, kind: ListKind): readonly ListReport[] {
  const cut = server.lists.cutOf(kind);
  return cut === undefined
    ? []
    : cutPhrases(WHAT[kind], cut).map((phrase) => ({
        code: 'list_limit',
        text: `${server.spec.name}: ${phrase}`,
      }));
}

const WHAT: Readonly<Record<ListKind, string>> = {
  tools: 'tools',
  prompts: 'prompts',
  resources: 'resources',
  resourceTemplates: 'resource templates',
};
