import { MAX_SUMMARY_LENGTH, type Tool, type ToolSummary } from '../../api/tool.ts';
import { HINTS } from '../../core/hints/hint.ts';
import { withoutUndefined } from '../../core/json-object.ts';
import { truncateText } from '../../core/shorten.ts';

/** The part of a tool that lists show: for 10,000 tools, a twentieth of the bytes. */
export function toToolSummary(tool: Tool): ToolSummary {
  const { id, name, namespacedName, serverName, title, description, state, drift } = tool;
  const hints = Object.fromEntries(
    HINTS.map((hint) => {
      const { effective, decidedBy, isContradicted } = tool.hints[hint];
      return [hint, { effective, decidedBy, isContradicted }];
    }),
  ) as ToolSummary['hints']; // every hint was visited
  return withoutUndefined({
    ...{ id, name, namespacedName, serverName, state, hints, title },
    description: description === undefined ? undefined : truncateText(description, MAX_SUMMARY_LENGTH),
    lint: tool.lint.map(({ rule, level }) => ({ rule, level })),
    drift: drift && { isDangerous: drift.isDangerous },
  });
}
