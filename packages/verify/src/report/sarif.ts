import { HINTS } from '@assay-mcp/kit/hint';
import { formatSarifLog, type SarifPlace, type SourceLine } from '@assay-mcp/kit/sarif-log';
import { groupByCause, type Contradiction, type VerifyReport } from '@assay-mcp/kit/verification/report';

export interface SourceLines {
  /** Where a tool is registered, as far as that was found. */
  readonly tools: ReadonlyMap<string, SourceLine>;
  /** The place for a tool that was not found. */
  readonly fallback: SourceLine;
}

/** One result per cause: all hints of all tools that one file or host contradicts. */
export function formatSarif(report: VerifyReport, version: string, lines: SourceLines): string {
  const results = groupByCause(report).map((group) => {
    const [{ hint, accepted }] = group.found;
    const [first, ...more] = new Set(group.found.map(({ tool }) => tool.name));
    return {
      rule: `contradicted/${hint}`,
      level: 'error' as const,
      text: `${formatClaims(group.found)}, but ${group.messages.join('; ')}.`,
      places: [toPlace(first ?? '', lines), ...more.map((name) => toPlace(name, lines))] as const,
      fingerprint: group.cause,
      properties: {
        tools: group.found.map(({ tool, hint: own, evidence }) => ({
          ...{ name: tool.name, digest: tool.digest, hint: own, evidence },
        })),
      },
      accepted:
        accepted === undefined
          ? undefined
          : [...new Set(group.found.map((one) => one.accepted ?? ''))].join('; '),
    };
  });
  return formatSarifLog({
    ...{ version, results },
    rules: HINTS.map((hint) => ({
      id: `contradicted/${hint}`,
      text: `A tool did something that its ${hint} rules out.`,
      help: `Change what the tool does, or its ${hint}; or accept the result in a baseline, with a reason. See docs/TRUE-HINTS.md.`,
    })),
    properties: { mechanisms: report.mechanisms, package: report.server.packageDigest },
  });
}

/** Such as `peek and list declare readOnlyHint: true`. */
export function formatClaims(found: readonly Contradiction[]): string {
  const claims = Map.groupBy(found, ({ tool, hint }) => `${hint}: ${String(tool.declared[hint])}`);
  return [...claims]
    .map(([claim, some]) => {
      const names = some.map(({ tool }) => tool.name);
      return `${names.join(', ')} ${names.length === 1 ? 'declares' : 'declare'} ${claim}`;
    })
    .join('; ');
}

function toPlace(tool: string, { tools, fallback }: SourceLines): SarifPlace {
  return { ...(tools.get(tool) ?? fallback), tool };
}
