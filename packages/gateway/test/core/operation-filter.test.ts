import { expect, it } from 'vitest';
import {
  isOperationPattern,
  selectsOperation,
  findUnusedOperationPatterns,
  type OperationFilter,
} from '../../src/core/sources/operation-filter.ts';

const OPERATIONS = [
  { method: 'GET', path: '/pets', tags: ['pets'] },
  { method: 'DELETE', path: '/pets/{id}', tags: ['pets', 'admin only'] },
  { method: 'GET', path: '/feed', tags: [] },
];

it.each<[OperationFilter, readonly string[]]>([
  [{}, ['GET /pets', 'DELETE /pets/{id}', 'GET /feed']],
  [{ include: ['tag:pets'] }, ['GET /pets', 'DELETE /pets/{id}']],
  [{ include: ['tag:pets'], exclude: ['tag:admin*'] }, ['GET /pets']],
  [{ include: ['/pets*'] }, ['GET /pets', 'DELETE /pets/{id}']],
  [{ include: ['get /*'] }, ['GET /pets', 'GET /feed']],
  [{ exclude: ['DELETE /pets/{id}', '/feed'] }, ['GET /pets']],
  [{ include: [] }, []],
])('the filter %j selects %j', (filter, expected) => {
  const selected = OPERATIONS.filter((operation) => selectsOperation(filter, operation));
  expect(selected.map(({ method, path }) => `${method} ${path}`)).toEqual(expected);
});

it('patterns that match no operation are found, as are invalid patterns', () => {
  const filter = { include: ['tag:pets', 'tag:pet'], exclude: ['POST /pets'] };
  expect(findUnusedOperationPatterns(filter, OPERATIONS)).toEqual(['tag:pet', 'POST /pets']);
  expect(['tag:', 'pets', 'GET', 'GET pets', ''].filter(isOperationPattern)).toEqual([]);
});
