import { MAX_SUMMARY_LENGTH, type Tool, type ToolSummary } from '../../api/tool.ts';
import { DEFAULTS, HINTS } from '@assay-mcp/kit/hint';
import { withoutUndefined } from '@assay-mcp/kit/json-object';
import { truncateText } from '@assay-mcp/kit/shorten';

/** The part of a tool that lists show: for 10,000 tools, a twentieth of the bytes. */
export function toToolSummary(tool: Tool): ToolSummary {
  const { id, name, namespacedName, serverName, title, description, state, drift } = tool;
  const hints = Object.fromEntries(
    HINTS.map((hint) => {
      const { effective, decision, decidedBy, isContradicted } = tool.hints[hint];
      return [hint, { effective, decision, decidedBy, isContradicted }];
    }),
  ) as ToolSummary['hints']; // every hint was visited
  return withoutUndefined({
    ...{ id, name, namespacedName, serverName, state, hints, title },
    description: description === undefined ? undefined : truncateText(description, MAX_SUMMARY_LENGTH),
    lint: tool.lint.map(({ rule, level }) => ({ rule, level })),
    isConsistent: isConsistent(tool) ? true : undefined,
    studied: findStudied(tool),
    drift: drift && { isDangerous: drift.isDangerous },
  });
}

/** The first consistency, unless the study contradicts another hint of the tool. */
function findStudied({ hints }: Tool): string | undefined {
  const studied = HINTS.flatMap((hint) =>
    hints[hint].claims.filter(({ source }) => source === 'study').map((claim) => ({ ...claim, hint })),
  );
  const isContradicted = studied.some(({ hint, value }) => value === DEFAULTS[hint]);
  return isContradicted ? undefined : studied[0]?.reason;
}

function isConsistent({ verification }: Tool): boolean {
  if (verification?.isCurrent !== true) return false;
  const verdicts = Object.values(verification.hints).map(({ verdict }) => verdict);
  return verdicts.includes('consistent') && !verdicts.includes('contradicted');
}
