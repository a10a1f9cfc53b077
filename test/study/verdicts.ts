import type { Hint } from '@assay-mcp/kit/hint';
import { isPublished } from './index-page.ts';
import type { StudyRecord } from './record.ts';

const STUDY = '2026-11';

/** packages/gateway/verdicts.json: what ships with Assay (docs/adr/0119). Servers whose authors wait to be told are left out. */
export function formatVerdicts(records: readonly StudyRecord[]): string {
  const shipped = records.filter(isPublished).filter(({ result }) => result.runs > 1);
  const packages = Map.groupBy(shipped, (record) => record.package);
  const lines = [...packages].map(([name, versions]) => {
    const entries = versions.map(({ version, installation, result }) => ({
      ...{ version, installation },
      tools: Object.fromEntries(
        result.tools.flatMap(({ name: tool, digest, calls, consistent = [] }) => {
          const effects = result.contradictions.filter((one) => one.tool === tool);
          const contradicted = Object.fromEntries(
            effects.map(({ hint, message }): [Hint, string] => [hint, message]),
          );
          const verdict = { digest, calls, consistent, ...(effects.length > 0 && { contradicted }) };
          return consistent.length + effects.length === 0 ? [] : [[tool, verdict] as const];
        }),
      ),
    }));
    return `${JSON.stringify(name)}: ${JSON.stringify(entries)}`;
  });
  const date =
    shipped
      .map(({ result }) => result.verifiedOn)
      .sort()
      .at(-1) ?? `${STUDY}-01`;
  return `{"format": 1, "study": "${STUDY}", "date": "${date}", "packages": {\n${lines.join(',\n')}\n}}\n`;
}
