import { HINTS } from '@assay-mcp/kit/hint';
import { listContradictions, type VerifyReport } from '@assay-mcp/kit/verification/report';

/** SARIF 2.1.0 (OASIS): one result per contradicted hint; those in the baseline are suppressed. */
export function formatSarif(report: VerifyReport, version: string, fixturesUri = 'package.json'): string {
  const results = listContradictions(report).map(({ tool, hint, evidence, accepted }) => ({
    ruleId: `contradicted/${hint}`,
    level: 'error',
    message: {
      text: `${tool.name} declares ${hint}: ${String(tool.declared[hint])}, but ${evidence.map(({ message }) => message).join('; ')}.`,
    },
    // Required by code scanning services, though a contradiction has no line of source code.
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: fixturesUri }, region: { startLine: 1 } },
        logicalLocations: [{ name: tool.name, kind: 'function' }],
      },
    ],
    partialFingerprints: { 'toolHint/v1': `${tool.name}/${hint}` },
    properties: { digest: tool.digest, evidence },
    ...(accepted !== undefined && { suppressions: [{ kind: 'external', justification: accepted }] }),
  }));
  const rules = HINTS.map((hint) => ({
    id: `contradicted/${hint}`,
    shortDescription: { text: `A tool did something that its ${hint} rules out.` },
  }));
  const driver = { name: 'Assay', version, rules };
  const properties = { mechanisms: report.mechanisms, package: report.server.packageDigest };
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, results, properties }],
  };
  return `${JSON.stringify(log, undefined, 2)}\n`;
}
