import { HINTS } from '@assay-mcp/kit/hint';
import { toPrintable } from '@assay-mcp/kit/printable';
import { listContradictions, computeCoverage, type VerifyReport } from '@assay-mcp/kit/verification/report';
import { formatFetched, formatHosts, formatVerdict } from '@assay-mcp/kit/verification/texts';
import { differs, suggestAnnotations } from '@assay-mcp/kit/verification/suggest-annotations';

/** A summary for a pull request or a job summary. */
export function formatMarkdown(report: VerifyReport): string {
  const { server, tools, mechanisms, missing, fetched, hosts = [] } = report;
  const coverage = computeCoverage(tools);
  const found = listContradictions(report);
  const open = found.filter(({ accepted }) => accepted === undefined);
  const suggested = tools.filter(differs);
  return [
    `## Hints of ${text(server.name)} ${text(server.version)}`,
    '',
    `${open.length} contradicted, ${found.length - open.length} accepted. ${coverage.toolsWithSuccess} of ${coverage.tools} tools made a successful call, ${coverage.calls} calls in all. Watched by ${mechanisms.join(', ') || 'nothing'}${missing.length === 0 ? '' : `; not by ${missing.map(({ mechanism }) => mechanism).join(', ')}`}.`,
    '',
    `| tool | ${HINTS.join(' | ')} |`,
    `|---|${HINTS.map(() => '---|').join('')}`,
    ...tools.map(
      ({ name, verdicts }) =>
        `| ${text(name)} | ${HINTS.map((hint) => text(formatVerdict(verdicts[hint]))).join(' | ')} |`,
    ),
    '',
    ...found.flatMap(({ tool, hint, evidence, accepted }) => [
      `- **${text(tool.name)}** \`${hint}\`${accepted === undefined ? '' : ` (accepted: ${text(accepted)})`}`,
      ...evidence.map(
        ({ message, call, args }) => `  - call ${call} with ${text(JSON.stringify(args))}: ${text(message)}`,
      ),
    ]),
    ...(report.withheld ?? []).map(
      ({ name, reason }) =>
        `- ${text(name)} was not verified, and official clients cannot list it: ${text(reason)}`,
    ),
    ...(fetched === undefined ? [] : ['', text(formatFetched(fetched))]),
    ...(hosts.length === 0 ? [] : ['', text(formatHosts(hosts))]),
    ...(suggested.length === 0
      ? []
      : ['', 'Suggested annotations:', '', '```json', suggestions(report), '```']),
    '',
  ].join('\n');
}

/** Suggested annotations, for each tool whose declared ones differ. */
function suggestions({ tools }: VerifyReport): string {
  const entries = tools.filter(differs).map((tool) => [tool.name, suggestAnnotations(tool)] as const);
  return JSON.stringify(Object.fromEntries(entries), undefined, 2).replaceAll('`', '\\u0060');
}

/** Foreign text without markup. */
function text(foreign: string): string {
  return toPrintable(foreign).replaceAll(/[\\`*_{}[\]<>|#&]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
