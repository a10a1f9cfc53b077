/** One step of a JSON pointer (RFC 6901, section 3), such as `/a~1b`. */
export function formatPointerStep(key: PropertyKey): string {
  return `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The keys of a JSON pointer: `a/b` and `c` for `/a~1b/c`. None for an empty one, which is the whole document. */
export function parsePointer(pointer: string): readonly string[] {
  return pointer.split('/').slice(1).map(unescaped);
}

/** The same for one in a URL fragment (section 6), such as `#/a%20b`. Undefined if a step is badly encoded. */
export function parsePointerFragment(fragment: string): readonly string[] | undefined {
  try {
    return fragment
      .split('/')
      .slice(1)
      .map((step) => unescaped(decodeURIComponent(step)));
  } catch {
    return undefined;
  }
}

/** In this order (section 4): `~01` stands for `~1`. */
function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
