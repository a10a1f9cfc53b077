// What the study publishes: nothing names a server beside a contradiction before its author was told.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { readStudy } from '../../packages/gateway/src/core/hints/study.ts';
import { GATEWAY, ROOT } from '../support/paths.ts';
import { formatIndex, isPublished } from './index-page.ts';
import { isUnreported, readPublished, type StudyRecord, type StudyResult } from './record.ts';
import { formatStudy } from './study-page.ts';
import { formatVerdicts } from './verdicts.ts';

const CONTRADICTION = {
  ...({ tool: 'reads_a', hint: 'readOnlyHint', effect: 'added' } as const),
  ...{ message: 'created /tmp/assay-verify/a|b.txt', args: '{"path":"x"}' },
};

function recordOf(name: string, result: Partial<StudyResult>): StudyRecord {
  const tool = { name: 'reads_a', digest: 'd', declared: { readOnlyHint: true }, calls: 6 };
  const isContradicted = (result.contradictions ?? []).length > 0;
  return {
    ...{ package: name, version: '1.2.3', integrity: 'i', installation: 'files', main: 'index.js', args: [] },
    ...{ definitions: 'all', tools: 1, mechanisms: ['overlay'], screenedOn: '2026-11-29' },
    result: {
      ...{ verifier: 'v', verifiedOn: '2026-11-29', runs: 2, tookMs: 1, contradictions: [] },
      reportedToAuthor: null,
      tools: [
        {
          ...tool,
          ...(isContradicted ? { contradicted: ['readOnlyHint'] } : { consistent: ['readOnlyHint'] }),
        },
      ],
      ...result,
    },
  };
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

const HONEST = recordOf('honest', {});
const UNREPORTED = recordOf('someone-writes', { contradictions: [CONTRADICTION] });
const REPORTED = recordOf('told', { contradictions: [CONTRADICTION], reportedToAuthor: '2026-12-24' });

it('a server whose author was not told of its contradiction looks like one that was not verified', () => {
  const { result: _, ...screened } = UNREPORTED;
  const [withResult, without] = [
    [HONEST, UNREPORTED],
    [HONEST, screened],
  ];
  expect(formatIndex(withResult)).toBe(formatIndex(without));
  expect(formatStudy(withResult)).toBe(formatStudy(without));
  expect(formatVerdicts(withResult)).toBe(formatVerdicts(without));
  expect(formatIndex(withResult)).toContain(
    '| `someone-writes` | 1.2.3 | tuning | 1 | no published result |  |',
  );
});

it('the pages, the verdicts and the repository have the results of the same servers', () => {
  const records = readPublished();
  const published = records.filter(isPublished);
  expect(records.filter(isUnreported)).toEqual([]);
  expect(read('docs/verified-servers.md')).toBe(formatIndex(records));
  expect(read('docs/STUDY.md')).toBe(formatStudy(records));
  expect(read('packages/gateway/verdicts.json')).toBe(formatVerdicts(records));
  expect(read('docs/verified-servers.md')).toContain(`${published.length} of ${records.length} servers`);
  expect(read('docs/STUDY.md')).toContain(`of ${published.length} `);
});

it('after that it is printed with tool, arguments, effect, version, mechanism and command', () => {
  const page = formatStudy([REPORTED]);
  expect(page).toContain('### `told` 1.2.3');
  expect(page).toContain('Seen by overlay. Repeat: `npm run study -- told`');
  expect(page).toContain(
    '| reads\\_a | `readOnlyHint: true` | {"path":"x"} | created /tmp/assay-verify/a\\|b.txt |',
  );
});

it('the verdicts that ship are those that Assay reads, of servers that were verified twice', () => {
  const once = recordOf('once', { runs: 1 });
  const study = readStudy(formatVerdicts([HONEST, REPORTED, UNREPORTED, once]));
  expect([...(study?.packages.keys() ?? [])]).toEqual(['honest', 'told']);
  expect(study?.packages.get('told')?.[0]?.tools.get('reads_a')).toEqual({
    ...{ digest: 'd', calls: 6, consistent: [] },
    contradicted: { readOnlyHint: 'created /tmp/assay-verify/a|b.txt' },
  });
});

it('the file that ships can be read, and has at most 300 kB compressed', () => {
  const text = readFileSync(join(GATEWAY, 'verdicts.json'));
  expect(readStudy(text.toString('utf8'))).toBeDefined();
  expect(brotliCompressSync(text).length).toBeLessThan(300_000);
});
