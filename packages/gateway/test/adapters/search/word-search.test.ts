import { describe, expect, it } from 'vitest';
import { stemWord } from '@assay-mcp/kit/stem-word';
import { SAYINGS } from '../../../src/adapters/search/sayings.ts';
import { TOPICS } from '../../../src/adapters/search/topics.ts';
import { buildWordSearch } from '../../../src/adapters/search/word-search.ts';
import type { SearchDocument } from '../../../src/gateway/ports/search.ts';

const document = (key: string, more: Partial<SearchDocument> = {}): SearchDocument => ({
  key,
  name: key,
  server: 'github',
  title: '',
  summary: '',
  description: '',
  parameters: '',
  ...more,
});

const DOCUMENTS = [
  document('createIssue', { description: 'Opens an issue. Long text about pull requests and files.' }),
  document('list_pull_requests', { summary: 'Lists pull requests.' }),
  document('delete-file', { parameters: 'path branch sha' }),
  document('screenshot', { server: 'browser', summary: 'Takes a screenshot.' }),
];

it.each([
  ['create an issue', 'createIssue'],
  ['LISTING of pull request', 'list_pull_requests'],
  ['all open PRs', 'list_pull_requests'],
  ['remove files', 'delete-file'],
  ['the branch with that sha', 'delete-file'],
  ['picture in the browser', 'screenshot'],
])('"%s" finds %s first', async (query, key) => {
  const search = await buildWordSearch(DOCUMENTS);
  expect(search(query)[0]).toBe(key);
});

it('a query that shares no word with any document, or has none, finds nothing', async () => {
  const search = await buildWordSearch(DOCUMENTS);
  for (const query of ['xylophone', 'the of', '', '!!!']) expect(search(query)).toEqual([]);
});

it.each([
  ['天气', '查询天气预报'],
  ['气', '查询天气预报'],
  ['查询城市的天气', '查询天气预报'],
  ['検索', 'ファイルを検索します'],
  ['ファイル', 'ファイルを検索します'],
  ['อากาศ', 'ดูสภาพอากาศวันนี้'],
  ['날씨', '오늘의 날씨를 조회'],
  ['creer', 'Créer une réunion'],
  ['CRÉER', 'Creer une reunion'],
  ['strasse', 'Findet die Straße'],
  ['ｆｉｌｅｓ', 'Opens a file'],
  ['سلام', 'يقول سَلَام'],
])('"%s" finds a tool described with "%s"', async (query, description) => {
  const search = await buildWordSearch([
    document('right', { description }),
    document('other', { description: '创建日历 メモを書く บันทึก 파일 Supprimer Gasse مرحبا' }),
  ]);
  expect(search(query)).toEqual(['right']);
});

it.each([
  ['utf8', 'decodeUTF8'],
  ['utf', 'decodeUTF8'],
  ['http server', 'startHTTPServer'],
  ['deletion', 'delete-file'],
  ['compres files', 'compress_file'],
  ['serach', 'search_node'],
  ['unpack backup.tar.gz', 'extract_archive'],
  ['wipe it', 'delete-file'],
  ['throw that old thing away', 'delete-file'],
  ["don't want it, throw it out", 'delete-file'],
  ['what is at 48.85, 2.29', 'reverse_geocode'],
  ['forward to ann@example.org', 'email'],
  ['see #general', 'list_channels'],
  ['who calls parseQuery()', 'search_code'],
])('"%s" finds %s', async (query, key) => {
  const keys = [
    'decodeUTF8',
    'startHTTPServer',
    'delete-file',
    'compress_file',
    'search_node',
    'extract_archive',
    'reverse_geocode',
    'email',
    'list_channels',
    'search_code',
  ];
  const search = await buildWordSearch(keys.map((one) => document(one)));
  expect(search(query)[0]).toBe(key);
});

it('a tool that speaks of a thing in several words comes before one that has one of them', async () => {
  const search = await buildWordSearch([
    document('one', { description: 'The forecast of sales.' }),
    document('both', { description: 'The weather forecast.' }),
  ]);
  expect(search('picnic')).toEqual(['both', 'one']);
});

it('a text that lists words gains nothing with each further one', async () => {
  const words = Array.from(
    { length: 40 },
    (_, at) => `deleteword${String.fromCharCode(97 + (at % 26), 97 + (at % 7))}`,
  );
  const search = await buildWordSearch([
    document('list', { title: words.join(' ') }),
    document('delete_file'),
  ]);
  expect(search('delete')[0]).toBe('delete_file');
});

it('a phrase stands in one of the tables once', () => {
  const phrases = [SAYINGS, TOPICS]
    .flatMap((table) => Object.values(table))
    .flatMap((said) => said.split(', '));
  const keys = phrases.map((phrase) => phrase.split(' ').map(stemWord).join(' '));
  expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
});

it('a mistyped word counts only if nothing else matches', async () => {
  const search = await buildWordSearch([document('from_form'), document('format')]);
  expect(search('form')).toEqual(['from_form', 'format']);
});

describe('hostile texts', () => {
  const MARKS = '\u0301\u0316'.repeat(500_000);
  const TEXTS = {
    'one long word': 'a'.repeat(1_000_000),
    'many different words': Array.from({ length: 200_000 }, (_, at) => `w${String(at)}x`).join(' '),
    'marks only': MARKS,
    capitals: 'aB'.repeat(500_000),
    dots: '.a'.repeat(500_000),
    'a regular expression': '(a+)+$'.repeat(150_000),
    'a run without spaces': '天'.repeat(500_000),
    'half surrogates': '\ud800'.repeat(500_000),
  };

  it.each(Object.entries(TEXTS))('%s: neither index nor query takes long', async (_, text) => {
    const startMs = performance.now();
    const search = await buildWordSearch([
      ...DOCUMENTS,
      document('hostile', { title: text, summary: text, description: text, parameters: text }),
    ]);
    search(text);
    search(text.slice(0, 10_000));
    // Generous: a quadratic step takes minutes.
    expect(performance.now() - startMs).toBeLessThan(5_000);
    expect(search('create an issue')[0]).toBe('createIssue');
  });

  it('names of members of objects are ordinary words', async () => {
    const search = await buildWordSearch([document('constructor'), document('__proto__')]);
    expect(search('constructor toString __proto__')).toEqual(['constructor', '__proto__']);
    expect(search('a.constructor b.valueOf')).toEqual(['constructor']);
  });
});
