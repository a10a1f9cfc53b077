import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { expect, it } from 'vitest';
import { computeReportOutcome, splitObserved, type VerifyReport } from '@assay-mcp/kit/verification/report';
import { applyBaseline, readBaseline, updateBaseline } from '../src/baseline.ts';
import { judgeTool } from '../src/judge/judge-tool.ts';
import { formatJunit } from '../src/report/junit.ts';
import { formatMarkdown } from '../src/report/markdown.ts';
import { formatSarif, type SourceLines } from '../src/report/sarif.ts';
import { formatAnnotations } from '../src/report/annotations.ts';
import { at, parseJson } from '../../../test/support/json.ts';
import { deleted, observation, SEED, trial } from './observations.ts';

const MECHANISMS = observation().mechanisms;
const LIAR = liar('removes<&"|`it');
const ACCEPTED = { tool: LIAR.name, hint: 'readOnlyHint', reason: 'a known <bug> | of ours' } as const;

function liar(name: string, path = '/seed/a <b>'): VerifyReport['tools'][number] {
  const declared = { readOnlyHint: true, openWorldHint: false };
  const trials = [trial([{ changes: [deleted(path)] }, {}])];
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

const LINES: SourceLines = {
  tools: new Map([[LIAR.name, { file: 'src/my tools.ts', line: 12 }]]),
  fallback: { file: 'package.json', line: 1 },
};

/** The schema of OASIS. What it uses of draft 4 means the same in draft 7, which Ajv knows. */
const {
  $schema: _,
  id: __,
  ...schema
} = createRequire(import.meta.url)('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json') as Readonly<
  Record<string, unknown>
>;
const isSarif = addFormats.default(new Ajv({ strict: false, unicodeRegExp: false })).compile(schema);

it('SARIF points at the line of the tool, and obeys its schema', () => {
  const text = formatSarif(report({ accepted: [ACCEPTED] }), '0.1.0', LINES);
  isSarif(parseJson(text));
  expect(isSarif.errors).toBeNull();
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
                  artifactLocation: { uri: 'src/my%20tools.ts' },
                  region: { startLine: 12 },
                },
              },
            ],
            partialFingerprints: { 'cause/v1': '/seed/a <b>' },
            suppressions: [{ kind: 'external', justification: ACCEPTED.reason }],
          },
        ],
      },
    ],
  });
});

it('SARIF and annotations have one finding for many tools with one cause, and another for another cause', () => {
  const tools = ['a', 'b', 'c'].map((name) => liar(name)).concat(liar('d', '/seed/other'));
  const text = formatSarif(report({ tools }), '1', LINES);
  isSarif(parseJson(text));
  expect(isSarif.errors).toBeNull();
  expect(parseJson(text)).toMatchObject({
    runs: [
      {
        results: [
          {
            message: { text: 'a, b, c declare readOnlyHint: true, but deleted /seed/a <b>.' },
            relatedLocations: [{ message: { text: 'b' } }, { message: { text: 'c' } }],
          },
          { message: { text: 'd declares readOnlyHint: true, but deleted /seed/other.' } },
        ],
      },
    ],
  });
  expect(formatAnnotations(report({ tools }), LINES).split('\n')).toHaveLength(2);
});

it('an accepted contradiction and an open one with the same cause are two findings', () => {
  const tools = [LIAR, liar('another')];
  const { runs } = parseJson(formatSarif(report({ tools, accepted: [ACCEPTED] }), '1', LINES)) as {
    readonly runs: readonly [{ readonly results: readonly { readonly suppressions?: unknown }[] }];
  };
  expect(runs[0].results.map(({ suppressions }) => suppressions !== undefined)).toEqual([true, false]);
  const annotations = formatAnnotations(report({ tools, accepted: [ACCEPTED] }), LINES);
  expect(annotations).toMatch(/^::error file=package.json,line=1,title=readOnlyHint of another::another/);
});

it('an annotation stays one command, whatever a server calls its tool', () => {
  const name = 'a\n::set-env name=x::y%0A,line=9:';
  const line = formatAnnotations(report({ tools: [liar(name)] }), LINES);
  expect(line.split('\n')).toHaveLength(1);
  expect(line).toContain(
    ',title=readOnlyHint of a\\u000a%3A%3Aset-env name=x%3A%3Ay%250A%2Cline=9%3A::a\\u000a::set-env',
  );
});

it('annotations are as many as GitHub shows, the last of which counts the others', () => {
  const tools = Array.from({ length: 12 }, (_, at) => liar(`t${at}`, `/seed/${at}`));
  const lines = formatAnnotations(report({ tools }), LINES).split('\n');
  expect([lines.length, lines.at(-1)]).toEqual([
    10,
    '::error::3 more causes are in the summary of this job.',
  ]);
});

it('every SARIF result names a rule that the log defines, and is not suppressed unless accepted', () => {
  const log = parseJson(formatSarif(report(), '1', LINES)) as {
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

it('no link and no control character of a server is in a SARIF message or in JUnit', () => {
  const tools = [liar('[see the fix](https://evil.example/x)\u009b\u202e')];
  const log = parseJson(formatSarif(report({ tools }), '1', LINES));
  expect(at(log, 'runs', 0, 'results', 0, 'message', 'text')).toMatch(
    /^\\\[see the fix\\\]\(https:.*\\\\u009b\\\\u202e declares/,
  );
  expect(formatJunit(report({ tools }))).not.toMatch(/[\u009b\u202e]/);
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

it('a tool that is skipped need not be observed', () => {
  const background = { targets: new Set<string>(), startTargets: new Set<string>() };
  const given = { trials: [], background, mechanisms: MECHANISMS, seed: SEED, unwatched: undefined };
  const judge = (name: string, stopped: 'skipped' | 'no_arguments'): VerifyReport['tools'][number] =>
    judgeTool({ name, digest: 'd', declared: {} }, { ...given, stopped });
  const { wanted, unobserved } = splitObserved([
    LIAR,
    judge('mail', 'skipped'),
    judge('odd', 'no_arguments'),
  ]);
  expect([wanted, unobserved].map((some) => some.map(({ name }) => name))).toEqual([
    [LIAR.name, 'odd'],
    ['odd'],
  ]);
});

it.each([
  ['[]', ''],
  ['{"accepted":[{"tool":"a","hint":"readOnlyHint","reason":" "}]}', 'accepted.0.reason'],
  ['{"accepted":[{"tool":"a","hint":"readonly","reason":"b"}]}', 'accepted.0.hint'],
  ['{"accepted":[{"hint":"readOnlyHint","reason":"b"}]}', 'accepted.0.tool'],
])('the baseline %s is refused, naming the invalid member', (text, field) => {
  expect(readBaseline(text)).toMatchObject({ ok: false, error: { code: 'BASELINE_INVALID', field } });
});

it('an updated baseline keeps reasons and what was not tested, and accepts all that the run contradicted', () => {
  const untested = { tool: 'absent', hint: 'readOnlyHint', reason: 'known' } as const;
  const consistent = { tool: LIAR.name, hint: 'openWorldHint', reason: 'was so' } as const;
  const tools = [LIAR, liar('another')];
  const applied = applyBaseline([ACCEPTED, untested, consistent], tools);
  expect(parseJson(updateBaseline(report({ tools, ...applied })))).toEqual({
    accepted: [
      ACCEPTED,
      untested,
      {
        tool: 'another',
        hint: 'readOnlyHint',
        reason: 'accepted by --update-baseline: deleted /seed/a <b>',
      },
    ],
  });
});
