import { HINTS, type Hint } from '@assay-mcp/kit/hint';
import { formatShare, isPublished, type PublishedRecord, wasCalled } from './index-page.ts';
import type { StudyContradiction, StudyRecord } from './record.ts';

/** The page docs/STUDY.md. Unreported records are in none of its counts: from a difference, a name would follow. */
export function formatStudy(records: readonly StudyRecord[]): string {
  const verified = records.filter(isPublished);
  return [
    '# What the study found',
    '',
    'Written by `npm run study` from the files in `test/study/`; edit those, not this page.',
    'Each server is verified twice, in sandboxes of its own ([VERIFY.md](VERIFY.md)). A contradiction counts if both runs saw it; a person looks at it before its author is told.',
    'Which servers, and how many of their tools are called: [verified-servers.md](verified-servers.md).',
    'A tool without a contradiction is not thereby safe: a call may do something else with other arguments, at another time or outside a sandbox.',
    '',
    ...formatDeclared(verified),
    ...formatFound(verified),
    ...formatReported(verified),
    '## Corrections',
    '',
    'An author whose server is wrongly described opens an issue in this repository, or writes as [SECURITY.md](SECURITY.md) says, with the package, the version, the tool and what it does.',
    'We repeat the two runs. If the finding was wrong, it is removed from this page and from the verdicts, with a test of the verifier that would have prevented it; a new version of a server is verified anew and listed beside the old one.',
    '',
    '## Names',
    '',
    'A contradiction is published with the name of its server only after a person has told the author: `reportedToAuthor` in its data file then has the day.',
    'Until then its result is not in the repository, not counted on any page and not among the verdicts that ship with Assay: the server looks like one that was not verified yet.',
    '`npm run study -- PACKAGE` writes the result of such a server to `test/study/unreported/`, which Git ignores. [ADR 0119](adr/0119-verdicts-of-the-study-ship-with-assay-and-are-found-by-what-it-starts.md) says how a person publishes it.',
    '',
  ].join('\n');
}

function formatDeclared(verified: readonly PublishedRecord[]): readonly string[] {
  const tools = verified.flatMap(({ result }) => result.tools);
  const declaring = verified.filter(({ result }) =>
    result.tools.some(({ declared }) => Object.keys(declared).length > 0),
  );
  const withAny = tools.filter(({ declared }) => Object.keys(declared).length > 0);
  const withAll = tools.filter(({ declared }) => HINTS.every((hint) => declared[hint] !== undefined));
  return [
    '## Declared',
    '',
    `${formatShare(declaring.length, verified.length)} servers declare a hint for at least one tool. ${formatShare(withAny.length, tools.length)} tools declare at least one hint, ${formatShare(withAll.length, tools.length)} all four.`,
    '',
    '| hint | declared true | declared false | absent |',
    '|---|---|---|---|',
    ...HINTS.map((hint) => {
      const count = (value: boolean | undefined): number =>
        tools.filter(({ declared }) => declared[hint] === value).length;
      return `| \`${hint}\` | ${count(true)} | ${count(false)} | ${count(undefined)} |`;
    }),
    '',
  ];
}

/** The value of a hint that promises something. */
const PROMISES: Readonly<Record<Hint, boolean>> = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

function formatFound(verified: readonly PublishedRecord[]): readonly string[] {
  const tools = verified.flatMap(({ result }) => result.tools);
  const contradicted = verified.filter(({ result }) => result.contradictions.length > 0);
  const all = contradicted.flatMap(({ result }) => result.contradictions);
  const once = verified.reduce((sum, { result }) => sum + (result.unconfirmed ?? 0), 0);
  const kinds = Map.groupBy(
    all,
    ({ hint, effect }) => `\`${hint}: ${String(PROMISES[hint])}\` | ${EFFECTS[effect]}`,
  );
  return [
    '## Contradicted',
    '',
    `${formatShare(contradicted.length, verified.length)} servers have a contradicted hint, ${all.length} hints in all. ${once} more hints were contradicted in only one run.`,
    'Servers with a contradiction whose authors were not told yet are in none of the counts on this page, so these figures are too low while there are any.',
    '',
    '| promise | tools called | consistent in both runs | contradicted in both runs |',
    '|---|---|---|---|',
    ...HINTS.map((hint) => {
      const promising = tools.filter((tool) => tool.declared[hint] === PROMISES[hint]);
      const count = (kind: 'consistent' | 'contradicted'): number =>
        promising.filter((tool) => tool[kind]?.includes(hint)).length;
      return `| \`${hint}: ${String(PROMISES[hint])}\` | ${promising.filter(wasCalled).length} | ${count('consistent')} | ${count('contradicted')} |`;
    }),
    '',
    ...(all.length === 0
      ? []
      : [
          '| promise | first effect | hints | servers |',
          '|---|---|---|---|',
          ...[...kinds].map(
            ([kind, some]) => `| ${kind} | ${some.length} | ${serversOf(some, contradicted)} |`,
          ),
          '',
        ]),
    `${tools.filter(({ keepsState }) => keepsState === true).length} tools keep state in process memory. Only a change that other tools of the server show contradicts a hint; other state is reported without a verdict.`,
    '',
  ];
}

const EFFECTS: Readonly<Record<StudyContradiction['effect'], string>> = {
  added: 'data was added',
  deleted: 'data was deleted',
  overwritten: 'data was changed or lost',
  moved: 'data was moved',
  transient: 'a file was created and removed again',
  rewritten: 'a file was rewritten',
  service: 'a service of the machine was tried',
  hidden: 'a process or the system was tried',
  changed: 'permissions, times or attributes changed',
  memory: 'data that other tools return changed',
  network: 'a host was tried',
};

function serversOf(some: readonly StudyContradiction[], records: readonly PublishedRecord[]): number {
  return records.filter(({ result }) => result.contradictions.some((one) => some.includes(one))).length;
}

function formatReported(verified: readonly PublishedRecord[]): readonly string[] {
  const reported = verified.filter(({ result }) => result.contradictions.length > 0);
  return [
    '## Evidence',
    '',
    ...(reported.length === 0 ? ['No contradiction is published yet.', ''] : []),
    ...reported.flatMap(({ package: name, version, mechanisms, result }) => [
      `### \`${name}\` ${version}`,
      '',
      `reportedToAuthor: ${result.reportedToAuthor ?? 'null'}. Seen by ${mechanisms.join(', ')}. Repeat: \`npm run study -- ${name}\``,
      '',
      '| tool | promise | arguments | effect |',
      '|---|---|---|---|',
      ...result.contradictions.map(
        ({ tool, hint, args, message }) =>
          `| ${escape(tool)} | \`${hint}: ${String(PROMISES[hint])}\` | ${escape(args)} | ${escape(message)} |`,
      ),
      '',
    ]),
  ];
}

/** Text of a server in a table, with markup escaped. */
function escape(text: string): string {
  return text.replaceAll(/[\\<>|`*_[\]&~#!]/g, (mark) => `\\${mark}`);
}
