import { HINTS } from '@assay-mcp/kit/hint';
import { formatJunitSuite, type JunitOutcome } from '@assay-mcp/kit/junit-suite';
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
  return formatJunitSuite({
    name: `assay verify ${report.server.name}`,
    seconds: report.tookMs / 1_000,
    properties: { mechanisms: report.mechanisms.join(' ') },
    cases: report.tools.flatMap(({ name, verdicts }) =>
      HINTS.map((hint) => ({
        ...{ tool: name, name: hint },
        outcome: outcomeOf(verdicts[hint], accepted.get(`${name} ${hint}`)),
      })),
    ),
  });
}

function outcomeOf(verdict: Verdict, accepted: string | undefined): JunitOutcome {
  if (verdict.kind === 'unobserved') return { kind: 'skipped', message: UNOBSERVED_TEXTS[verdict.reason] };
  if (verdict.kind !== 'contradicted') return { kind: 'passed' };
  if (accepted !== undefined) return { kind: 'skipped', message: `accepted: ${accepted}` };
  const details = verdict.evidence.map(
    ({ message, call, args }) => `call ${call} with ${JSON.stringify(args)}: ${message}`,
  );
  return { kind: 'failed', message: formatVerdict(verdict), details };
}
