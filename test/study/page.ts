import { listContradictions, computeCoverage, type VerifyReport } from '@assay-mcp/kit/verification/report';
import type { ToolReport } from '@assay-mcp/kit/verification/verdict';
import type { StudyServer } from './servers.ts';
import type { TwinReport } from './twins.ts';

export interface StudyResult {
  readonly server: StudyServer;
  readonly report: VerifyReport;
  readonly twin: TwinReport | undefined;
}

/** The beginning of a contradiction's explanation. */
const FALSE = 'False:';

/** The page docs/verified-servers.md. */
export function pageOf(results: readonly StudyResult[]): string {
  const found = results.flatMap(({ server, report }) =>
    listContradictions(report).map((one) => ({ ...one, server })),
  );
  const mistaken = found.filter(({ accepted }) => accepted?.startsWith(FALSE) === true);
  const all = results.flatMap(({ report }) => report.tools);
  const counted = results.flatMap(callable);
  const called = counted.filter(wasCalled);
  const days = results.map(({ report }) => new Date(report.startedMs).toISOString().slice(0, 10)).sort();
  return [
    '# Verified servers',
    '',
    'What `assay verify` finds in published MCP servers.',
    '`npm run study` installs them into `.study/`, verifies them in sandboxes without a network, and writes this page.',
    'The servers were chosen because they are popular or start without keys; they are not a sample.',
    'A verdict holds for the version and the arguments that were tried.',
    'It does not say that a server is safe or unsafe.',
    '',
    `Verified ${days[0] === days.at(-1) ? `on ${days[0] ?? ''}` : `from ${days[0] ?? ''} to ${days.at(-1) ?? ''}`}: ${results.length} servers with ${all.length} tools.`,
    `Of ${counted.length} tools that need no internet, browser, cluster or key, ${called.length} made a successful call (${percent(called.length, counted.length)}).`,
    `Contradictions: ${found.length}, of which ${mistaken.length} are false.`,
    '',
    '| server | version | tools | called | contradicted | needs |',
    '|---|---|---|---|---|---|',
    ...results.map(rowOf),
    '',
    '## Contradictions',
    '',
    ...(found.length === 0 ? ['None.'] : contradictionLines(found)),
    '',
    ...twinLines(results),
    '## Tools without a successful call',
    '',
    'Of those that need nothing that a sandbox lacks:',
    '',
    ...counted
      .filter((tool) => !wasCalled(tool))
      .map((tool) => `- \`${tool.name}\`: ${plain(tool.failure ?? 'not called')}`),
    '',
    '## State in the process',
    '',
    'Equal calls are answered differently, and a new process answers as the first did.',
    'This is reported and not judged, since the specification does not say whether such state counts.',
    '',
    ...results.flatMap(({ server, report }) =>
      report.tools
        .filter(({ signals }) => signals.some(({ kind }) => kind === 'in_process_state'))
        .map(({ name }) => `- ${server.name}: \`${name}\``),
    ),
    '',
  ].join('\n');
}

function twinLines(results: readonly StudyResult[]): readonly string[] {
  const called = results.flatMap(({ server, twin }) =>
    (twin?.tools ?? []).map((tool) => ({ ...tool, server: server.name })),
  );
  const failed = called.filter(({ failure }) => failure !== undefined);
  return [
    '## Read-only tools on a twin',
    '',
    'Each tool that declares `readOnlyHint: true` was called with and without `"sandbox": "twin"`, with the same arguments.',
    `Of ${called.length} that answered without it, ${called.length - failed.length} answered with it, too.`,
    '',
    ...failed.map(({ server, name, failure = '' }) => `- ${server}: \`${name}\`: ${plain(failure)}`),
    ...(failed.length === 0 ? [] : ['']),
  ];
}

function rowOf({ server, report }: StudyResult): string {
  const { tools, toolsWithSuccess } = computeCoverage(report.tools);
  const contradicted = listContradictions(report).length;
  return `| \`${server.package}\` | ${server.version} | ${tools} | ${toolsWithSuccess} | ${contradicted} | ${server.needs ?? ''} |`;
}

type Found = ReturnType<typeof listContradictions>[number] & { readonly server: StudyServer };

/** One entry for all tools of a server with the same contradiction. */
function contradictionLines(found: readonly Found[]): readonly string[] {
  const same = Map.groupBy(found, ({ server, tool, hint, evidence, accepted }) =>
    [server.name, hint, tool.declared[hint], evidence[0]?.message, accepted].join('\n'),
  );
  return [...same.values()].flatMap((some) => {
    const [{ server, tool, hint, evidence, accepted }] = some as [Found];
    const names = some.map((one) => `\`${one.tool.name}\``).join(', ');
    const declares = `${some.length === 1 ? 'declares' : 'declare'} \`${hint}: ${String(tool.declared[hint])}\``;
    return [
      `- ${server.name}: ${names} ${declares}, but ${plain(evidence[0]?.message ?? '')}.`,
      `  ${accepted ?? 'Not explained yet.'}`,
    ];
  });
}

/** Tools that can work in a sandbox. */
function callable({ server, report }: StudyResult): readonly ToolReport[] {
  const { needs, worksWithout = [] } = server;
  return needs === undefined ? report.tools : report.tools.filter(({ name }) => worksWithout.includes(name));
}

function wasCalled({ coverage }: ToolReport): boolean {
  return coverage.successfulCalls > 0;
}

function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / Math.max(whole, 1))} %`;
}

/** The beginning of external text on one line, with markup escaped and without program paths. */
function plain(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\/\S*\/(?=node_modules\/)/g, '')
    .replaceAll(/[<>|`*_[\]]/g, (mark) => `\\${mark}`)
    .slice(0, 160);
}
