import { expect, it } from 'vitest';
import { parseReports } from '../../src/platform/terminal/reports.ts';

const ENDINGS = { junit: '.xml', markdown: '.md', github: undefined };

it('reports name their format, or have an ending that says it; a dash is stdout', () => {
  expect(parseReports(['junit=a.txt', 'a.xml', 'markdown=-', 'other=b.md', 'github=c'], ENDINGS)).toEqual({
    ok: true,
    value: [
      { format: 'junit', file: 'a.txt' },
      { format: 'junit', file: 'a.xml' },
      { format: 'markdown', file: undefined },
      { format: 'markdown', file: 'other=b.md' },
      { format: 'github', file: 'c' },
    ],
  });
});

it.each([
  [['a.txt'], '--report: a.txt must be FORMAT=FILE with junit, markdown, github, or end with .xml, .md'],
  [['-'], '--report: - must be FORMAT=FILE with junit, markdown, github, or end with .xml, .md'],
  [['junit='], '--report: junit= must be FORMAT=FILE with junit, markdown, github, or end with .xml, .md'],
  [['junit=-', 'markdown=-'], '--report: two reports would be written to -'],
])('%s is refused', (texts, error) => {
  expect(parseReports(texts, ENDINGS)).toEqual({ ok: false, error });
});
