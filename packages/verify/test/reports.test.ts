import { expect, it } from 'vitest';
import { computeReportOutcome, type VerifyReport } from '@assay-mcp/kit/verification/report';
import { applyBaseline, readBaseline } from '../src/baseline.ts';
import { judgeTool } from '../src/judge/judge-tool.ts';
import { formatJunit } from '../src/report/junit.ts';
import { formatMarkdown } from '../src/report/markdown.ts';
import { formatSarif } from '../src/report/sarif.ts';
import { parseJson } from '../../../test/support/json.ts';
import { deleted, observation, SEED, trial } from './observations.ts';

const MECHANISMS = observation().mechanisms;
const LIAR = liar('removes<&"|`it');
const ACCEPTED = { tool: LIAR.name, hint: 'readOnlyHint', reason: 'a known <bug> | of ours' } as const;

function liar(name: string): VerifyReport['tools'][number] {
  const declared = { readOnlyHint: true, openWorldHint: false };
  const trials = [trial([{ changes: [deleted('/seed/a <b>')] }, {}])];
  const background = { targets: new Set<string>(), startTargets: new Set<string>() };
  const given = {
    trials,
    background,
    mechanisms: MECHANISMS,
    seed: SEED,
    unwatched: undefined,
    stopped: undefined,
  };
  return judgeTool({ name, digest: 'd', declared }, given);
}

function report(part: Partial<VerifyReport> = {}): VerifyReport {
  return {
    server: { name: 'files & more', version: '1', command: ['node'], packageDigest: 'p' },
    ...{ startedMs: 0, tookMs: 1_500, mechanisms: MECHANISMS, missing: [], tools: [LIAR] },
    ...{ accepted: [], stale: [] },
    ...part,
  };
}

it('SARIF has one result per contradiction, with the members that its schema requires', () => {
  const text = formatSarif(report({ accepted: [ACCEPTED] }), '0.1.0', 'assay-verify.json');
  expect(parseJson(text)).toMatchObject({
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'Assay', version: '0.1.0' } },
        results: [
          {
            ruleId: 'contradicted/readOnlyHint',
            level: 'error',
            message: { text: `${LIAR.name} declares readOnlyHint: true, but deleted /seed/a <b>.` },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: 'assay-verify.json' },
                  region: { startLine: 1 },
                },
              },
            ],
            partialFingerprints: { 'toolHint/v1': `${LIAR.name}/readOnlyHint` },
            suppressions: [{ kind: 'external', justification: ACCEPTED.reason }],
          },
        ],
      },
    ],
  });
});

it('every SARIF result names a rule that the log defines, and is not suppressed unless accepted', () => {
  const log = parseJson(formatSarif(report(), '1')) as {
    readonly runs: readonly [
      {
        readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
        readonly results: readonly { readonly ruleId: string; readonly suppressions?: unknown }[];
      },
    ];
  };
  const [{ tool, results }] = log.runs;
  expect(tool.driver.rules.map(({ id }) => id)).toEqual(
    expect.arrayContaining(results.map(({ ruleId }) => ruleId)),
  );
  expect(results.map(({ suppressions }) => suppressions)).toEqual([undefined]);
});

it('JUnit counts what it lists, and escapes untrusted names', () => {
  const text = formatJunit(report());
  expect(text).toContain('<testsuites tests="4" failures="1" skipped="0">');
  expect(text).toContain('name="assay verify files &amp; more"');
  expect(text.match(/<testcase /g)).toHaveLength(4);
  expect(text).toContain('classname="removes&lt;&amp;&quot;|`it" name="readOnlyHint"><failure message=');
  expect(text).not.toContain('<b>');
});

it('an accepted contradiction is skipped in JUnit, with its reason', () => {
  const text = formatJunit(report({ accepted: [ACCEPTED] }));
  expect(text).toContain('<testsuites tests="4" failures="0" skipped="1">');
  expect(text).toContain('<skipped message="accepted: a known &lt;bug&gt; | of ours"/>');
});

it('Markdown shows untrusted text without markup, and the annotations to paste', () => {
  const text = formatMarkdown(report({ accepted: [ACCEPTED] }));
  expect(text).toContain('0 contradicted, 1 accepted. 1 of 1 tools made a successful call');
  expect(text).toContain('| removes&#60;&#38;"&#124;&#96;it |');
  expect(text).toContain('(accepted: a known &#60;bug&#62; &#124; of ours)');
  const [, block = ''] = /```json\n([\s\S]*?)\n```/.exec(text) ?? [];
  expect(parseJson(block)).toMatchObject({ [LIAR.name]: { readOnlyHint: false, destructiveHint: true } });
});

it('a baseline accepts what it lists, and a further contradiction still fails', () => {
  const another = liar('another');
  const listed = readBaseline(JSON.stringify({ accepted: [ACCEPTED] }));
  if (!listed.ok) throw new Error(listed.error.problem);
  const outcome = (tools: VerifyReport['tools']): string =>
    computeReportOutcome(report({ tools, ...applyBaseline(listed.value, tools) }));
  expect(outcome([LIAR])).toBe('consistent');
  expect(outcome([LIAR, another])).toBe('contradicted');
});

it('a baseline entry that matches nothing is reported as stale', () => {
  expect(applyBaseline([ACCEPTED], [liar('another')])).toEqual({ accepted: [], stale: [ACCEPTED] });
});

it('a run without a successful call has observed nothing', () => {
  expect(computeReportOutcome(report({ tools: [] }))).toBe('unobserved');
});

it.each([
  ['[]', ''],
  ['{"accepted":[{"tool":"a","hint":"readOnlyHint","reason":" "}]}', 'accepted.0.reason'],
  ['{"accepted":[{"tool":"a","hint":"readonly","reason":"b"}]}', 'accepted.0.hint'],
  ['{"accepted":[{"hint":"readOnlyHint","reason":"b"}]}', 'accepted.0.tool'],
])('the baseline %s is refused, naming the invalid member', (text, field) => {
  expect(readBaseline(text)).toMatchObject({ ok: false, error: { code: 'BASELINE_INVALID', field } });
});
