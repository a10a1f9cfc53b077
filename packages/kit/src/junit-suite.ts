import { toPrintableLines } from './printable.ts';

export interface JunitSuite {
  readonly name: string;
  /** How long it took. */
  readonly seconds: number;
  readonly properties?: Readonly<Record<string, string>>;
  readonly cases: readonly JunitCase[];
}

export interface JunitCase {
  readonly tool: string;
  readonly name: string;
  readonly outcome: JunitOutcome;
}

export type JunitOutcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'skipped'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string; readonly details: readonly string[] };

/** A suite as JUnit XML, as test reporters of CI systems read it. */
export function formatJunitSuite({ name, seconds, properties = {}, cases }: JunitSuite): string {
  const count = (kind: JunitOutcome['kind']): number =>
    cases.filter(({ outcome }) => outcome.kind === kind).length;
  const counts = `tests="${cases.length}" failures="${count('failed')}" skipped="${count('skipped')}"`;
  const values = Object.entries(properties).map(
    ([key, value]) => `<property name="${escapeXml(key)}" value="${escapeXml(value)}"/>`,
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${escapeXml(name)}" ${counts} errors="0" time="${seconds.toFixed(3)}">`,
    ...(values.length > 0 ? [`    <properties>${values.join('')}</properties>`] : []),
    ...cases.map(formatCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function formatCase({ tool, name, outcome }: JunitCase): string {
  const head = `    <testcase classname="${escapeXml(tool)}" name="${escapeXml(name)}"`;
  if (outcome.kind === 'passed') return `${head}/>`;
  const message = escapeXml(outcome.message);
  const content =
    outcome.kind === 'skipped'
      ? `<skipped message="${message}"/>`
      : `<failure message="${message}">${escapeXml(outcome.details.join('\n'))}</failure>`;
  return `${head}>${content}</testcase>`;
}

/** Escapes text for XML 1.0, and what a terminal or a reader would take for something else. */
function escapeXml(text: string): string {
  return toPrintableLines(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
