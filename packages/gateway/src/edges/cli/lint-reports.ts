import type { JunitOutcome } from '@assay-mcp/kit/junit-suite';
import { formatJunitSuite } from '@assay-mcp/kit/junit-suite';
import { findFile, findRegistrations } from '@assay-mcp/kit/platform/find-registrations';
import { formatSarifLog } from '@assay-mcp/kit/sarif-log';
import { VERSION } from '@assay-mcp/kit/version';
import { LINT_RULES, type LintFinding, type LintRule } from '../../core/hints/lint.ts';

/** A tool with what `assay lint` found. */
export interface LintedTool {
  readonly server: string;
  readonly tool: string;
  readonly findings: readonly LintFinding[];
}

/** JUnit XML: one test case per tool and rule. A warning is skipped, or with `isStrict` a failure. */
export function formatLintJunit(tools: readonly LintedTool[], isStrict: boolean, seconds: number): string {
  const cases = tools.flatMap(({ tool, findings }) =>
    LINT_RULES.map((rule) => ({
      ...{ tool, name: rule },
      outcome: outcomeOf(
        findings.filter((finding) => finding.rule === rule),
        isStrict,
      ),
    })),
  );
  return formatJunitSuite({ name: 'assay lint', seconds, cases });
}

function outcomeOf(findings: readonly LintFinding[], isStrict: boolean): JunitOutcome {
  const [first] = findings;
  if (first === undefined) return { kind: 'passed' };
  if (first.level === 'warning' && !isStrict)
    return { kind: 'skipped', message: `warning: ${first.message}` };
  const details = findings.map(({ message, remedy }) => `${message} ${remedy}`);
  return { kind: 'failed', message: first.message, details };
}

/** SARIF: one result per tool and finding, at the line below `folder` where the tool is registered. */
export async function formatLintSarif(
  tools: readonly LintedTool[],
  rules: Readonly<Record<LintRule, string>>,
  folder: string,
): Promise<string> {
  const found = tools.filter(({ findings }) => findings.length > 0);
  const lines = await findRegistrations(
    folder,
    found.map(({ tool }) => tool),
  );
  const fallback = { file: (await findFile(folder, MANIFESTS)) ?? 'package.json', line: 1 };
  const results = found.flatMap(({ server, tool, findings }) =>
    findings.map(({ rule, level, hint, message, remedy }) => ({
      ...{ rule, level, text: `${tool}: ${message} ${remedy}` },
      places: [{ ...(lines.get(tool) ?? fallback), tool }] as const,
      fingerprint: [server, tool, rule, ...(hint === undefined ? [] : [hint])].join('/'),
    })),
  );
  const described = LINT_RULES.map((rule) => ({
    ...{ id: rule, text: `A tool ${rules[rule]}.` },
    help: 'Each result says what to do. See docs/TRUE-HINTS.md.',
  }));
  return formatSarifLog({ version: VERSION, rules: described, results });
}

/** Code scanning services require a file, also for a tool that was not found. */
const MANIFESTS = ['package.json', 'pyproject.toml', 'Cargo.toml', 'go.mod', 'README.md'];
