import { formatCount } from '@assay-mcp/kit/counted';
import { HINTS } from '@assay-mcp/kit/hint';
import { toPrintable } from '@assay-mcp/kit/printable';
import { listContradictions, computeCoverage, type VerifyReport } from '@assay-mcp/kit/verification/report';
import { differs, suggestAnnotations } from '@assay-mcp/kit/verification/suggest-annotations';
import {
  formatFetched,
  formatHosts,
  formatSignal,
  UNOBSERVED_TEXTS,
} from '@assay-mcp/kit/verification/texts';
import type { Verdict } from '@assay-mcp/kit/verification/verdict';
import { formatJson, print, printError, style } from '@assay-mcp/kit/platform/terminal/print';
import { layoutTable } from '@assay-mcp/kit/platform/terminal/table';

const WIDTH = 80;

/** Prints a report for people: the table on stdout, warnings on stderr. */
export function printTable(report: VerifyReport): void {
  const head = ['tool', ...HINTS.map((hint) => hint.replace('Hint', '')), 'calls'];
  const rows = report.tools.map(({ name, verdicts, coverage }) => [
    toPrintable(name),
    ...HINTS.map((hint) => formatVerdict(verdicts[hint])),
    `${coverage.successfulCalls}/${coverage.calls}`,
  ]);
  print(layoutTable(head, rows, { width: WIDTH, head: (line) => style.dim(line) }));
  for (const { tool, hint, evidence, accepted } of listContradictions(report)) {
    const note = accepted === undefined ? '' : ` (accepted: ${toPrintable(accepted)})`;
    print(
      `\n${style.red('CONTRADICTED')} ${toPrintable(tool.name)}: ${hint} is ${String(tool.declared[hint])}${note}`,
    );
    for (const { message, call, args, atMs } of evidence)
      print(
        `  ${new Date(atMs).toISOString()} call ${call} ${toPrintable(JSON.stringify(args))}\n    ${toPrintable(message)}`,
      );
  }
  printNotes(report);
  printAttempts(report);
  printTotals(report);
}

function printAttempts({ tools }: VerifyReport): void {
  for (const { name, attempts = [] } of tools)
    for (const { args, after, calls, isSuccess, answer } of attempts) {
      const setup = after.length === 0 ? '' : ` after ${after.join(', ')}`;
      const outcome = isSuccess ? 'answered' : style.red('failed');
      print(`\n${toPrintable(`${name} ${JSON.stringify(args)}${setup}`)}, ${formatCount(calls, 'call')}`);
      print(`  ${outcome}: ${toPrintable(answer)}`);
    }
}

/** Short enough for six columns in a width of 80. */
function formatVerdict(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'contradicted':
      return style.red('CONTRADICTED');
    case 'unobserved':
      return 'UNOBSERVED';
    case 'consistent':
      return 'CONSISTENT';
    case 'not_exercised':
      return 'not exercised';
    case 'not_applicable':
      return '-';
    case 'supported':
      return 'supported';
  }
}

function printNotes({ tools, stale }: VerifyReport): void {
  for (const { name, signals, verdicts, failure } of tools) {
    const { readOnlyHint: first } = verdicts;
    const lines = [
      ...(first.kind === 'unobserved'
        ? [UNOBSERVED_TEXTS[first.reason] + (failure === undefined ? '' : `: ${failure}`)]
        : []),
      ...signals.map(formatSignal),
    ];
    if (lines.length > 0)
      print(`\n${toPrintable(name)}\n${lines.map((line) => `  ${toPrintable(line)}`).join('\n')}`);
  }
  for (const { tool, hint } of stale)
    printError(
      toPrintable(`warning: the baseline accepts ${hint} of ${tool}, which this run did not contradict`),
    );
}

function printNetwork({ fetched, hosts = [] }: VerifyReport): void {
  if (fetched !== undefined) print(toPrintable(formatFetched(fetched)));
  if (hosts.length > 0) print(toPrintable(formatHosts(hosts)));
}

function printTotals(report: VerifyReport): void {
  const { tools, toolsWithSuccess, calls, shapes } = computeCoverage(report.tools);
  const open = listContradictions(report).filter(({ accepted }) => accepted === undefined).length;
  print(
    `\n${formatCount(open, 'contradiction')}. ${toolsWithSuccess} of ${formatCount(tools, 'tool')} made a successful call; ${formatCount(calls, 'call')}, ${formatCount(shapes, 'shape')} of arguments, ${(report.tookMs / 1_000).toFixed(1)} s.`,
  );
  print(`Watched by ${report.mechanisms.join(', ')}.`);
  printNetwork(report);
  const reasons = Map.groupBy(report.missing, ({ why, install }) => `${why} ${install}`);
  for (const [reason, missing] of reasons)
    printError(toPrintable(`warning: no ${missing.map(({ mechanism }) => mechanism).join(', ')}. ${reason}`));
  for (const { name, reason } of report.withheld ?? [])
    printError(
      toPrintable(`warning: ${name} was not verified, and official clients cannot list it: ${reason}`),
    );
  const suggested = report.tools.filter(
    (tool) => HINTS.some((hint) => tool.verdicts[hint].kind === 'contradicted') && differs(tool),
  );
  if (suggested.length === 0) return;
  print('\nSuggested annotations:');
  for (const tool of suggested)
    print(`  ${toPrintable(tool.name)}: ${formatJson(suggestAnnotations(tool)).replaceAll(/\s+/g, ' ')}`);
}
