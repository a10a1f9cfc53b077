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
 * Which harmless purpose a name suggests, for a path that begins with `/` at the folder it was declared in. A name
 * proves nothing: a server chooses its names. The WAL of a SQLite database holds data, so it does not count as noise.
 */
export function noiseClass(path: string): NoiseClass | undefined {
  return CLASSES.find(([, pattern]) => pattern.test(path))?.[0];
}
