import { HINTS } from '@assay-mcp/kit/hint';
import { listContradictions, type VerifyReport } from '@assay-mcp/kit/verification/report';
import { UNOBSERVED_TEXTS, formatVerdict } from '@assay-mcp/kit/verification/texts';
import type { Verdict } from '@assay-mcp/kit/verification/verdict';

/** JUnit XML: one test case per tool and hint. Unobserved hints and accepted contradictions are skipped. */
export function formatJunit(report: VerifyReport): string {
  const accepted = new Map(
    listContradictions(report).flatMap(({ tool, hint, accepted: reason }) =>
      reason === undefined ? [] : [[`${tool.name} ${hint}`, reason] as const],
    ),
  );
  const cases = report.tools.flatMap(({ name, verdicts }) =>
    HINTS.map((hint) => ({
      name,
      hint,
      outcome: outcomeOf(verdicts[hint], accepted.get(`${name} ${hint}`)),
    })),
  );
  const count = (tag: string): number => cases.filter(({ outcome }) => outcome.startsWith(`<${tag}`)).length;
  const lines = cases.map(({ name, hint, outcome }) => {
    const head = `    <testcase classname="${xml(name)}" name="${hint}"`;
    return outcome === '' ? `${head}/>` : `${head}>${outcome}</testcase>`;
  });
  const totals = `tests="${cases.length}" failures="${count('failure')}" skipped="${count('skipped')}"`;
  const seconds = (report.tookMs / 1_000).toFixed(3);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${totals}>`,
    `  <testsuite name="${xml(`assay verify ${report.server.name}`)}" ${totals} time="${seconds}">`,
    `    <properties><property name="mechanisms" value="${xml(report.mechanisms.join(' '))}"/></properties>`,
    ...lines,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function outcomeOf(verdict: Verdict, accepted: string | undefined): string {
  if (verdict.kind === 'contradicted') {
    if (accepted !== undefined) return `<skipped message="${xml(`accepted: ${accepted}`)}"/>`;
    const details = verdict.evidence.map(
      ({ message, call, args }) => `call ${call} with ${JSON.stringify(args)}: ${message}`,
    );
    return `<failure message="${xml(formatVerdict(verdict))}">${xml(details.join('\n'))}</failure>`;
  }
  return verdict.kind === 'unobserved' ? `<skipped message="${xml(UNOBSERVED_TEXTS[verdict.reason])}"/>` : '';
}

/** Escapes text for XML 1.0, without characters that it cannot contain. */
function xml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
