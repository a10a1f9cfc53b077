import { expect, it } from 'vitest';
import { listChoices, listExamples } from '../src/arguments/described-values.ts';

it.each<[string, readonly string[]]>([
  ['How to sort. One of: asc, desc', ['asc', 'desc']],
  ["The shape: 'round' | 'square'", ['round', 'square']],
  ['Shape (round|square)', ['round', 'square']],
  ['Supported formats: "png", "svg"', ['png', 'svg']],
  ['One of the beds of the garden', []],
])('the choices in %j are %j', (description, choices) => {
  expect(listChoices({ description })).toEqual(choices);
});

it.each<[string, readonly string[]]>([
  ['The branch (e.g. "main")', ['main']],
  ['A revision such as `HEAD~1`', ['HEAD~1']],
  ['A size. Default: 10px', ['10px']],
  ['花园。例如：`north`。', ['north']],
  ['顺序。例如：a b c', ['a b c']],
  ['Five fields, e.g. 0 3 * * *', ['0 3 * * *']],
  ['A command (e.g. echo hello, or none)', ['echo hello', 'echo']],
  ['Beet, z. B. Nordbeet; sonst alle', ['Nordbeet']],
  ['Parcelle, par exemple « P-1 »', ['P-1']],
  ['The garden', []],
  ['A key, e.g. "ghp_abcdefghijklmnopqrstuvwxyz0123456789"', []],
])('the examples in %j are %j', (description, examples) => {
  expect(listExamples({ description })).toEqual(examples);
});
