import { findFile, findRegistrations } from '@assay-mcp/kit/platform/find-registrations';
import { formatJson, printText } from '@assay-mcp/kit/platform/terminal/print';
import { parseReports, type WantedReport, writeReports } from '@assay-mcp/kit/platform/terminal/reports';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { suggestAnnotations } from '@assay-mcp/kit/verification/suggest-annotations';
import {
  computeCoverage,
  computeReportOutcome,
  listContradictions,
  type VerifyReport,
} from '@assay-mcp/kit/verification/report';
import type { VerifyFormat, VerifyOptions } from '@assay-mcp/kit/verification/verifier';
import type { VerifyFault } from '@assay-mcp/kit/verification/verify-fault';
import { VERSION } from '@assay-mcp/kit/version';
import { formatAnnotations } from './annotations.ts';
import { formatJunit } from './junit.ts';
import { formatMarkdown } from './markdown.ts';
import { formatSarif, type SourceLines } from './sarif.ts';
import { printTable } from './table.ts';

/** Texts of a report, beside the table. */
type TextFormat = Exclude<VerifyFormat, 'table'>;

const FORMATS: Readonly<Record<TextFormat, (report: VerifyReport, lines: SourceLines) => string>> = {
  json: (report) =>
    formatJson({
      ...report,
      coverage: computeCoverage(report.tools),
      outcome: computeReportOutcome(report),
      suggestedAnnotations: Object.fromEntries(
        report.tools.map((tool) => [tool.name, suggestAnnotations(tool)]),
      ),
    }),
  sarif: (report, lines) => formatSarif(report, VERSION, lines),
  junit: formatJunit,
  markdown: formatMarkdown,
  github: formatAnnotations,
};

const ENDINGS = { json: '.json', sarif: '.sarif', junit: '.xml', markdown: '.md', github: undefined };

/** The reports that the options ask for. ARGUMENTS_INVALID */
export function planReports(
  options: VerifyOptions,
): Result<readonly WantedReport<TextFormat>[], VerifyFault> {
  const { report = [], format, json } = options;
  const reports = parseReports<TextFormat>(report, ENDINGS);
  if (!reports.ok) return err({ code: 'ARGUMENTS_INVALID', reason: reports.error });
  if ((format !== undefined || json === true) && reports.value.some(({ file }) => file === undefined)) {
    const reason = `--report: with ${json === true ? '--json' : '--format'}, stdout is taken; name a file`;
    return err({ code: 'ARGUMENTS_INVALID', reason });
  }
  return reports;
}

/** Writes the reports, and the table to stdout if nothing else is written there. `folder`: of the server's sources. FILE_UNWRITABLE */
export async function writeAllReports(
  report: VerifyReport,
  wanted: readonly WantedReport<TextFormat>[],
  { json, format = 'table' }: VerifyOptions,
  folder: string,
): Promise<Result<undefined, VerifyFault>> {
  const onStdout = json === true ? 'json' : format;
  const needsLines = [onStdout, ...wanted.map((one) => one.format)].some((one) => WITH_LINES.has(one));
  const lines = needsLines ? await findLines(report, folder) : NO_LINES;
  if (onStdout !== 'table') printText(FORMATS[onStdout](report, lines).trimEnd());
  else if (wanted.every(({ file }) => file !== undefined)) printTable(report);
  const written = await writeReports(wanted, (one) => FORMATS[one](report, lines));
  return written.ok ? ok(undefined) : err({ code: 'FILE_UNWRITABLE', ...written.error });
}

const WITH_LINES: ReadonlySet<string> = new Set(['sarif', 'github'] satisfies VerifyFormat[]);
const NO_LINES: SourceLines = { tools: new Map(), fallback: { file: 'package.json', line: 1 } };
/** Code scanning services require a file, also for a tool that was not found. */
const MANIFESTS = ['package.json', 'pyproject.toml', 'Cargo.toml', 'go.mod', 'README.md'];

async function findLines(report: VerifyReport, folder: string): Promise<SourceLines> {
  const names = [...new Set(listContradictions(report).map(({ tool }) => tool.name))];
  const file = (await findFile(folder, MANIFESTS)) ?? NO_LINES.fallback.file;
  return { tools: await findRegistrations(folder, names), fallback: { file, line: 1 } };
}
