/**
 * A short stem of a lower-case word: `parses`, `parsing` and `parsed` become `pars`. Search in code, whose index has its
 * own stems, uses it only to compare the words of a query with those of names.
 */
export function stemWord(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  for (const [suffix, replacement] of SUFFIXES)
    if (word.endsWith(suffix) && word.length - suffix.length >= 3)
      return finish(word.slice(0, -suffix.length) + replacement);
  return finish(word);
}

/** Longer ones first. */
const SUFFIXES: readonly (readonly [suffix: string, replacement: string])[] = [
  ['izations', 'iz'],
  ['ization', 'iz'],
  ['ations', 'at'],
  ['ation', 'at'],
  ['ators', 'at'],
  ['ator', 'at'],
  ['ings', ''],
  ['ing', ''],
  ['ies', 'y'],
  ['ied', 'y'],
  ['sses', 'ss'],
  ['ers', ''],
  ['ors', ''],
  ['ions', ''],
  ['ion', ''],
  ['ed', ''],
  ['er', ''],
  ['or', ''],
  ['es', ''],
  ['ss', 'ss'],
  ['us', 'us'],
  ['is', 'is'],
  ['s', ''],
];

/** `running` and `run`, `make` and `making`, `copies` and `copy`. */
function finish(stem: string): string {
  const short = stem.replace(/([^aeiouls])\1$/, '$1').replace(/e$/, '');
  return short.length < 3 ? stem : short.replace(/y$/, 'i');
}
