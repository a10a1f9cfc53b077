import { expect, it } from 'vitest';
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
