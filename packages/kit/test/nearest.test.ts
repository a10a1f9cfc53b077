import { expect, it } from 'vitest';
import { findMeant, findNearest } from '../src/nearest.ts';

const KNOWN = ['limits.sessions', 'limits.connections', 'mcp.access'];

it.each([
  ['limits.sesions', 'limits.sessions'],
  ['Limits.Sessions', 'limits.sessions'],
  ['limit.connection', 'limits.connections'],
  ['mcp.acess', 'mcp.access'],
  ['mcp', undefined],
  ['', undefined],
  ['x'.repeat(100_000), undefined],
])('%s suggests %s', (word, meant) => {
  expect(findNearest(word, KNOWN)).toBe(meant);
});

it.each([
  ['args', 'arguments'],
  ['tool_arguments', 'arguments'],
  ['toolName', undefined],
  ['tool-name', 'name'],
  ['argumnets', 'arguments'],
  ['an', undefined],
  ['gments', undefined],
  ['x_'.repeat(100_000), undefined],
])('%s stands for %s', (word, meant) => {
  expect(findMeant(word, ['name', 'arguments'])).toBe(meant);
});

it('nothing is suggested if nothing is known', () => {
  expect(findNearest('a', [])).toBe(undefined);
});
