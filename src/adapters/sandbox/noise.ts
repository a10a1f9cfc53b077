import type { NoiseClass } from '../../verify/observation.ts';

const CLASSES: readonly (readonly [NoiseClass, RegExp])[] = [
  ['git_index', /\/[.]git\/(?:index|index[.]lock|ORIG_HEAD|FETCH_HEAD)$/],
  ['lock', /(?:[.](?:lock|lck|pid)|\/lock(?:file)?|\/[.]~lock[.][^/]*)$/i],
  [
    'cache',
    /\/(?:[.]?cache|caches|__pycache__|_cacache|node_modules\/[.]cache|[.]pytest_cache|[.]mypy_cache)(?:\/|$)|[.]pyc$/i,
  ],
  ['log', /\/(?:logs?|_logs)\/|[.]log(?:[.]\d+)?$/i],
  ['temporary', /[.](?:tmp|temp|swp)$|-(?:journal|shm)$|\/[.]#|~$/i],
];

/**
 * The harmless purpose that a name suggests, for a path relative to its declared folder but with a leading `/`. A name
 * proves nothing, since servers choose their names. The WAL of a SQLite database holds data, so it does not count as
 * noise.
 */
export function noiseClass(path: string): NoiseClass | undefined {
  return CLASSES.find(([, pattern]) => pattern.test(path))?.[0];
}
