import { toPrintable } from '@assay-mcp/kit/printable';
import { groupByCause, splitObserved, type VerifyReport } from '@assay-mcp/kit/verification/report';
import { formatClaims, type SourceLines } from './sarif.ts';

/** GitHub shows at most 10 errors of a step. */
const MAX_ERRORS = 10;

/** Workflow commands of GitHub Actions: an error for each cause that the baseline does not accept. */
export function formatAnnotations(report: VerifyReport, { tools, fallback }: SourceLines): string {
  const open = groupByCause(report).filter(({ found: [first] }) => first.accepted === undefined);
  const shown = open.length > MAX_ERRORS ? open.slice(0, MAX_ERRORS - 1) : open;
  const errors = shown.map(({ found, messages }) => {
    const [{ tool, hint }] = found;
    const { file, line } = tools.get(tool.name) ?? fallback;
    const title = `${hint} of ${tool.name}`;
    const text = `${formatClaims(found)}, but ${messages.join('; ')}.`;
    return `::error file=${property(file)},line=${line},title=${property(title)}::${data(text)}`;
  });
  const hidden = open.length - shown.length;
  const { wanted, unobserved } = splitObserved(report.tools);
  return [
    ...errors,
    ...(hidden > 0 ? [`::error::${hidden} more causes are in the summary of this job.`] : []),
    ...(unobserved.length > 0
      ? [`::warning::${unobserved.length} of ${wanted.length} tools made no successful call.`]
      : []),
  ].join('\n');
}

/** A server chooses these texts; none may begin another command. */
function data(text: string): string {
  return toPrintable(text).replaceAll('%', '%25');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
