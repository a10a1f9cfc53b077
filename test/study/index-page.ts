import { SERVERS } from './servers.ts';
import { isUnreported, type StudyRecord, type StudyTool } from './record.ts';
import { chooseGroup } from './split.ts';

/** The page docs/verified-servers.md. A server whose author was not told yet looks like one that was not verified. */
export function formatIndex(records: readonly StudyRecord[]): string {
  const verified = records.filter(isPublished);
  const days = verified.map(({ result }) => result.verifiedOn).sort();
  return [
    '# Verified servers',
    '',
    'Published MCP servers whose tools `assay-verify` has called in sandboxes, without a network and without keys.',
    'Candidates come from a list of npm packages with their downloads of a month: those whose name or description speaks of MCP, most downloaded first, without libraries, clients and packages whose description names a remote service, a browser, a database server or a phone.',
    'Of those, the study keeps each one that starts and lists tools. It is not a sample of all servers.',
    'A verdict holds for the version, the files and the arguments that were tried. It does not say that a server is safe or unsafe.',
    '[What was found](STUDY.md) is on its own page.',
    '',
    verified.length === 0
      ? 'No result is published yet.'
      : `Results of ${days[0] === days.at(-1) ? (days[0] ?? '') : `${days[0] ?? ''} to ${days.at(-1) ?? ''}`}: ${verified.length} of ${records.length} servers. The others were not verified yet, or their authors are told of the result first ([Names](STUDY.md#names)).`,
    '',
    '## How many tools are called',
    '',
    ...formatShares(records),
    '',
    '## Servers',
    '',
    'Held out: chosen by a hash of their names before any of them was verified, and not used to improve the choice of arguments. Six that were held out at first count as tuning since their answers were read (`MOVED` in `test/study/split.ts`).',
    '`npm run study -- PACKAGE` verifies one again. Its data is a file in `test/study/servers/`; a result that its author must be told of first is kept out of the repository ([Names](STUDY.md#names)).',
    '',
    '| package | version | group | tools | called | need the internet | need something else |',
    '|---|---|---|---|---|---|---|',
    ...records.map(formatRow),
    '',
  ].join('\n');
}

export type PublishedRecord = StudyRecord & { readonly result: NonNullable<StudyRecord['result']> };

/** Whether it has a result that pages and verdicts may show. */
export function isPublished(record: StudyRecord): record is PublishedRecord {
  return record.result !== undefined && record.result.tools.length > 0 && !isUnreported(record);
}

export function wasCalled({ calls }: StudyTool): boolean {
  return calls > 0;
}

function formatShares(records: readonly StudyRecord[]): readonly string[] {
  const verified = records.filter(isPublished);
  const known = new Set(SERVERS.map((server) => server.package));
  const groups = [
    ['held out, no fixtures', verified.filter((one) => chooseGroup(one.package) === 'held_out')],
    [
      'tuning, no fixtures',
      verified.filter((one) => chooseGroup(one.package) === 'tuning' && !known.has(one.package)),
    ],
    ['servers of the first study, no fixtures', verified.filter((one) => known.has(one.package))],
  ] as const;
  const withFixtures = records.flatMap(({ withFixtures: one }) => (one === undefined ? [] : [one]));
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  return [
    'Without fixtures, arguments come from the schemas, the seed data and what tools list.',
    ...(withFixtures.length === 0
      ? []
      : [
          'With fixtures, somebody wrote them by hand: 18 of the 25 servers of the first study have such arguments.',
        ]),
    'A tool of which no call succeeded needs the internet if it tried to reach it, or an answer said that a request failed; it needs something else if it tried to reach a server on the same machine, or an answer said that a key, a setting or a program is missing, or asked for another tool that lacks one.',
    '',
    '| servers | called, of all tools | of those that need no internet | of those that need nothing else either |',
    '|---|---|---|---|',
    ...groups.map(([name, some]) => {
      const tools = some.flatMap(({ result }) => result.tools);
      const local = tools.filter(({ needs }) => needs !== 'internet');
      const able = tools.filter(({ needs }) => needs === undefined);
      const called = tools.filter(wasCalled).length;
      return `| ${some.length} ${name} | ${formatShare(called, tools.length)} | ${formatShare(called, local.length)} | ${formatShare(called, able.length)} |`;
    }),
    ...(withFixtures.length === 0
      ? []
      : [
          `| ${withFixtures.length} of the first study, with fixtures | ${formatShare(sum(withFixtures.map(({ called }) => called)), sum(withFixtures.map(({ tools }) => tools)))} | | |`,
        ]),
  ];
}

export function formatShare(part: number, whole: number): string {
  return whole === 0 ? '0 of 0' : `${part} of ${whole} (${Math.round((100 * part) / whole)} %)`;
}

function formatRow(record: StudyRecord): string {
  const { package: name, version, tools, result } = record;
  const group = chooseGroup(name) === 'held_out' ? 'held out' : 'tuning';
  const cells = isPublished(record)
    ? [
        String(record.result.tools.filter(wasCalled).length),
        String(record.result.tools.filter(({ needs }) => needs === 'internet').length),
        String(record.result.tools.filter(({ needs }) => needs !== undefined && needs !== 'internet').length),
      ]
    : [result === undefined || isUnreported(record) ? 'no published result' : 'no report', '', ''];
  return `| \`${name}\` | ${version} | ${group} | ${tools} | ${cells.join(' | ')} |`;
}
