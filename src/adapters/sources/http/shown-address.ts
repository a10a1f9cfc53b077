/**
 * An address for sentences: its origin and its path, with `{argument}` as it was written. There are APIs that take a key as
 * a step of the path: what looks like one is not shown.
 */
export function shownAddress(origin: string, path: string): string {
  const steps = path.split('/').map((step) => step.replace(/\{[^{}]*\}|[^{}]+/g, shownPart));
  return origin + steps.join('/');
}

/** What of the path and the query of an address looks like a key. */
export function keysIn(address: string): readonly string[] {
  return address.split(/\{[^{}]*\}|[/?&=#]/).filter((part) => LIKE_A_KEY.test(part));
}

/** Long, and of letters and digits. */
const LIKE_A_KEY = /^(?=.*[A-Za-z])(?=.*\d).{16,}$/;

function shownPart(part: string): string {
  return !part.startsWith('{') && LIKE_A_KEY.test(part) ? '***' : part;
}
